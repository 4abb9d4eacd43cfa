/** `elicit()` as authors know it: a message and a schema in, a typed answer or the reason why there is none out. */
import { uuid4 } from '@temporalio/workflow';
import { isTooManyOpen } from '../../turn/ask.ts';
import type { AskResult, ToolRequest, TooManyOpen } from '../../turn/ask.ts';
import { inspectUrl } from '../../elicitation/url-safety.ts';
import { PageCannotReport } from '../elicit.ts';
import type { Elicit } from '../elicit.ts';
import type { DurableToolInput } from '../messages.ts';
import type { Questions } from '../questions.ts';
import type { UnwrittenOutcomes } from '../unwritten-outcomes.ts';
import { readToolAnswer } from './activities.ts';
import { issuesOf } from './tool-code.ts';
import type { ElicitOptions, ElicitResult, ReadSchema, ToolRunContext, ValueSchema } from './tool-code.ts';

/** Of one call. A loop whose end depends on its answers would otherwise ask until the turn's time is up. */
const mostQuestions = 100;
/** So often is asked again what the author's schema refuses and the form let pass. */
const mostTries = 3;

interface Parts {
  tool: { name: string; title: string };
  call: DurableToolInput;
  questions: Pick<Questions, 'settlement'>;
  unwritten: UnwrittenOutcomes;
  elicit: Elicit;
  whileAsking<T>(toolCallId: string, ask: () => Promise<T>): Promise<T>;
  readSchema: ReadSchema;
  /** Collects what nobody could be asked and no default answered, for the model to put in words. */
  unasked: ToolRequest[];
  log: Pick<ToolRunContext['log'], 'error'>;
}

const tooMany: Record<TooManyOpen, string> = {
  'too-many-open':
    'the user has too many open questions already, so nobody was asked. Ask them to answer those first.',
  'too-many-in-turn': `as many questions are open in this turn as may be, so nobody was asked. Once those are answered, it can be called again.`,
};

type FormOptions = Pick<ElicitOptions, 'ttl' | 'whenUnsupported' | 'elicitationId'>;

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

/** The questions of one call. */
class AuthorQuestions {
  readonly #parts: Parts;
  readonly #usedIds = new Set<string>();
  #asked = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async askForm(message: string, schema: ValueSchema, options: FormOptions): Promise<ElicitResult> {
    const { tool, readSchema, unasked } = this.#parts;
    const form = readSchema(schema);
    if (form.kind === 'problem') throw new Error(`elicit() cannot show this form: ${form.problem}`);
    const { requestedSchema } = form;
    let said = message;
    for (let tries = 1; ; tries++) {
      const request = { mode: 'form', toolTitle: tool.title, message: said, requestedSchema } as const;
      const id = tries === 1 ? this.#idOf(options.elicitationId) : uuid4();
      const answer = await this.#ask(request, id, options);
      if (answer === 'unsupported' && options.whenUnsupported === 'defaults') return defaultsOf(schema);
      if (answer === 'unsupported') unasked.push(request);
      if (answer !== 'accept') return { status: answer };
      const content = await this.#contentOf(id);
      const read = schema.safeParse(content);
      if (read.success) return { status: 'accept', content: read.data };
      if (tries === mostTries)
        throw new Error(`The answer was refused ${mostTries} times: ${issuesOf(read.error)}`);
      said = `${message}\n\nThat cannot be taken as it is: ${issuesOf(read.error)}`;
    }
  }

  async askToOpen(message: string, options: ElicitOptions): Promise<ElicitResult> {
    const { tool, unasked } = this.#parts;
    const { url } = options;
    if (url === undefined) throw new Error('elicit() needs a url with mode: "url".');
    const id = this.#idOf(options.elicitationId);
    const address = typeof url === 'function' ? url(id) : url;
    const inspected = inspectUrl(address);
    if (inspected.kind === 'refused') throw new Error(`The url of elicit() ${inspected.reason}.`);
    const request = { mode: 'url', toolTitle: tool.title, message, url: address } as const;
    const answer = await this.#ask(request, id, options);
    if (answer === 'unsupported') unasked.push(request);
    return answer === 'accept' ? { status: answer, content: undefined } : { status: answer };
  }

  async #ask(
    request: ToolRequest,
    id: string,
    { ttl }: Pick<ElicitOptions, 'ttl'>,
  ): Promise<Exclude<AskResult, TooManyOpen>> {
    const { tool, call, elicit, whileAsking, unwritten, log } = this.#parts;
    this.#countQuestion();
    const { user } = call.turn;
    if (user === null) return 'unsupported';
    const { toolCallId } = call;
    const about = { kind: 'tool', tool: tool.name, toolCallId, mode: request.mode } as const;
    const answer = await whileAsking(toolCallId, () =>
      elicit(about, user, id, { request, timeoutMs: ttl }).catch((error: unknown) => {
        if (error instanceof PageCannotReport) log.error(`${tool.title}: ${error.message}`);
        throw error;
      }),
    );
    // Whatever the tool does next may take long, and nobody should be shown an answered question as open.
    if (answer !== 'accept' || request.mode === 'url') void unwritten.write();
    if (isTooManyOpen(answer)) throw new Error(tooMany[answer]);
    return answer;
  }

  #countQuestion(): void {
    const { tool, log } = this.#parts;
    this.#asked += 1;
    if (this.#asked <= mostQuestions) return;
    const words = `it has asked ${mostQuestions} questions in one call, which is as many as it may.`;
    if (this.#asked === mostQuestions + 1) log.error(`${tool.title}: ${words}`);
    throw new Error(words);
  }

  async #contentOf(elicitationId: string): Promise<unknown> {
    const { questions, unwritten } = this.#parts;
    const { responseId } = questions.settlement(elicitationId) ?? {};
    if (!responseId) return {};
    return unwritten.writtenBy((outcomes) => readToolAnswer({ elicitationId, responseId, outcomes }));
  }

  /** Of the author's choosing, to be told elsewhere too; each question has its own. */
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
