/** `elicit()` for authors of tools: takes a message and a schema, returns a typed answer or the reason why there is none. */
import { proxyLocalActivities, uuid4 } from '@temporalio/workflow';
import type { DurableToolActivities } from '../../activities/durable-tools/durable-tools.ts';
import { canPresent } from '@interlude-ai/core/elicitation/elicitation.ts';
import { inspectForm } from '@interlude-ai/core/elicitation/form/inspect-form.ts';
import { inspectUrl } from '@interlude-ai/core/elicitation/url-safety.ts';
import type { AskedQuestion, ToolRequest } from '../../turn/ask.ts';
import { issuesOf } from '../../turn/tool-code.ts';
import type {
  ElicitOptions,
  ElicitResult,
  ReadSchema,
  ToolRunContext,
  ValueSchema,
} from '../../turn/tool-code.ts';
import { shortWrites, untilCancelled } from '../failures.ts';
import type { DurableToolInput } from '../messages.ts';
import type { OperatorView } from '../operator-view.ts';
import type { Moment, Questions } from '../questions.ts';

const { openToolQuestion, readToolAnswer } = proxyLocalActivities<DurableToolActivities>(shortWrites);

/** Per call: otherwise an author's loop could ask until the turn's time is up. */
const mostQuestions = 100;
/** How often a form is asked when the author's schema refuses the answer. */
const mostTries = 3;

interface Parts {
  tool: { name: string; title: string };
  call: DurableToolInput;
  questions: Questions;
  view: OperatorView;
  readSchema: ReadSchema;
  /** Collects questions that could not be asked and have no defaults, so that the model can ask them. */
  unasked: ToolRequest[];
  log: ToolRunContext['log'];
}

const notAsked = {
  'too-many-open':
    'the user has too many open questions already, so nobody was asked. Ask them to answer those first.',
  'too-many-in-turn': `as many questions are open in this turn as may be, so nobody was asked. Once those are answered, it can be called again.`,
  'too-many-in-tenant':
    "as many questions are open in the user's organisation as may be, so nobody was asked. It may be tried again later.",
  'page-cannot-report':
    'nobody was sent to its page, because that page could never report that it is done: the agents file names no secret for it (tools.completionSecretEnv). An operator has to add one.',
  'id-was-used':
    'the elicitationId that it chose was used before, by another call, so the user was not asked. Each question needs an id of its own.',
} as const;

const sendToPage = 'Send the user to a page (mode: "url"), because a form passes through clients and models.';

interface AuthorAnswer {
  status: ElicitResult['status'];
  content?: unknown;
}

export function createElicitForAuthor(parts: Parts): ToolRunContext['elicit'] {
  const asking = new AuthorQuestions(parts);
  return async (message, schema, options = {}) => {
    const { mode = 'form', url, ttl } = options;
    if (typeof message !== 'string' || message.trim() === '') throw new Error('elicit() needs a message.');
    if (ttl !== undefined && !(ttl > 0))
      throw new Error('The ttl of elicit() is a number of milliseconds above 0.');
    if (mode === 'url') return asking.askToOpen(message, options);
    if (url !== undefined) throw new Error('elicit() takes a url only with mode: "url".');
    if (!schema) throw new Error('elicit() needs a schema for a form.');
    return asking.askForm(message, schema, options);
  };
}

class AuthorQuestions {
  readonly #parts: Parts;
  readonly #usedIds = new Set<string>();
  #asked = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async askForm(message: string, schema: ValueSchema, options: ElicitOptions): Promise<ElicitResult> {
    const { tool, readSchema, unasked } = this.#parts;
    const form = readSchema(schema);
    if (form.kind === 'problem') throw new Error(`elicit() cannot show this form: ${form.problem}`);
    const { requestedSchema } = form;
    const secret = inspectForm({ message, requestedSchema }).find(({ rule }) => rule === 'secret-in-form');
    if (secret) throw new Error(`elicit() cannot show this form: ${secret.message} ${sendToPage}`);
    let words = message;
    for (let tries = 1; ; tries++) {
      const request = { mode: 'form', toolTitle: tool.title, message: words, requestedSchema } as const;
      const id = tries === 1 ? this.#idOf(options.elicitationId) : uuid4();
      const { status, content = {} } = await this.#ask(request, id, options.ttl);
      if (status === 'unsupported' && options.whenUnsupported === 'defaults') return defaultsOf(schema);
      if (status === 'unsupported') unasked.push(request);
      if (status !== 'accept') return { status };
      const read = schema.safeParse(content);
      if (read.success) return { status, content: read.data };
      if (tries === mostTries)
        throw new Error(`The answer was refused ${mostTries} times: ${issuesOf(read.error)}`);
      words = `${message}\n\nThat cannot be taken as it is: ${issuesOf(read.error)}`;
    }
  }

  async askToOpen(message: string, options: ElicitOptions): Promise<ElicitResult> {
    const { tool, unasked } = this.#parts;
    const { url } = options;
    if (url === undefined) throw new Error('elicit() needs a url with mode: "url".');
    const id = this.#idOf(options.elicitationId);
    const address = typeof url === 'function' ? url(id) : url;
    const inspected = inspectUrl(address);
    if (inspected.kind === 'refused')
      throw new Error(`elicit() cannot send the user there: ${inspected.reason}`);
    if (inspected.warnings.includes('plain_http'))
      throw new Error(
        'The url of elicit() must begin with https://. Plain http is for pages on this machine.',
      );
    const request = { mode: 'url', toolTitle: tool.title, message, url: address } as const;
    const { status } = await this.#ask(request, id, options.ttl);
    if (status === 'unsupported') unasked.push(request);
    return status === 'accept' ? { status, content: undefined } : { status };
  }

  async #ask(
    request: ToolRequest,
    elicitationId: string,
    timeoutMs: number | undefined,
  ): Promise<AuthorAnswer> {
    const { tool, call, questions, view, log } = this.#parts;
    const { turn, toolCallId } = call;
    const index = this.#countQuestion();
    if (turn.user === null || !canPresent(request.mode, turn.capabilities)) return { status: 'unsupported' };
    const since = questions.now();
    const question = { turn, toolCallId, elicitationId, index, request };
    const opened = await openToolQuestion({ ...question, ...(timeoutMs !== undefined && { timeoutMs }) });
    if (opened.kind === 'asked') {
      const { question: asked } = opened;
      return view.whileAsking(toolCallId, [asked], () => this.#answerTo(asked, since));
    }
    const { why } = opened;
    if (why === 'unsupported' || why === 'cancel') return { status: why };
    if (why === 'page-cannot-report' || why === 'id-was-used') log.error(`${tool.title}: ${notAsked[why]}`);
    throw new Error(notAsked[why]);
  }

  async #answerTo(question: AskedQuestion, opened: Moment): Promise<AuthorAnswer> {
    const { call, questions } = this.#parts;
    const { turn, toolCallId } = call;
    const { elicitationId } = question;
    let left = [question];
    for (let since = opened; ;) {
      await questions.wait(left, since);
      since = questions.now();
      const read = await readToolAnswer({ turn, toolCallId, elicitationId }).catch(untilCancelled);
      if (read.kind === 'settled') return { status: read.outcome, content: read.content };
      left = read.questions;
    }
  }

  /** Returns how many questions there were before. */
  #countQuestion(): number {
    const { tool, log } = this.#parts;
    this.#asked += 1;
    if (this.#asked <= mostQuestions) return this.#asked - 1;
    const words = `it has asked ${mostQuestions} questions in one call, which is as many as it may.`;
    if (this.#asked === mostQuestions + 1) log.error(`${tool.title}: ${words}`);
    throw new Error(words);
  }

  /** An author may choose the id, to use it elsewhere too. No two questions may have the same. */
  #idOf(given: string | undefined): string {
    if (given === undefined) return uuid4();
    if (!/^[\w-]{16,64}$/.test(given))
      throw new Error('An elicitationId has 16 to 64 letters, digits, - and _, and nobody can guess it.');
    if (this.#usedIds.has(given)) throw new Error(`The elicitationId "${given}" was used before.`);
    this.#usedIds.add(given);
    return given;
  }
}

function defaultsOf(schema: ValueSchema): ElicitResult {
  const read = schema.safeParse({});
  return read.success ? { status: 'accept', content: read.data } : { status: 'unsupported' };
}
