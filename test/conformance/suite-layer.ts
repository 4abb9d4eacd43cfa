/**
 * A tool layer in memory, for the tools of the MCP conformance suite. The code above it, which speaks the protocol, is the
 * product's.
 */
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { CallStage, Question } from '../../src/api/mcp/tools/follow-call.ts';
import type { ToolLayer } from '../../src/api/mcp/tools/tool-layer.ts';
import { errorResult, textResult } from '../../src/api/mcp/tools/tool.ts';
import type { ToolResult } from '../../src/api/mcp/tools/tool.ts';
import type { ElicitationResponse } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { FoundTurn, OwnTurn } from '../../src/service/own-turn.ts';
import { ServiceError } from '../../src/service/service-error.ts';
import type { Service } from '../../src/service/service.ts';

/** The tools that the server scenarios of the conformance suite want to find, as plain functions that may ask. */
interface Asking {
  /** `key`: where the suite looks for it. */
  ask(
    message: string,
    properties: object,
    rest?: { required?: string[]; key?: string },
  ): Promise<ElicitationResponse>;
  /** Rejects when the turn is cancelled. */
  sleep(ms: number): Promise<void>;
  progress(words: string): void;
}

/** Long enough for a call to become a task, which it does after half a second, also where both clocks are late. */
const pastTaskMs = 2_500;

type SuiteTool = (asking: Asking, given: Record<string, unknown>) => Promise<ToolResult>;

const name = { name: { type: 'string' } };
const confirm = { confirm: { type: 'boolean' } };
const greeting = ({ content }: ElicitationResponse) => textResult(`Hello, ${String(content?.['name'])}!`);

const asksForName: SuiteTool = async ({ ask }) =>
  greeting(await ask('What is your name?', name, { required: ['name'], key: 'user_name' }));

/** Of an enum: an untitled one, a titled one, one with the old names, and both kinds of which several may be chosen. */
const enums = {
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: { type: 'string', oneOf: titled('Option') },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
};

function titled(what: string): object[] {
  return ['First', 'Second', 'Third'].map((words, index) => ({
    const: `value${index + 1}`,
    title: `${words} ${what}`,
  }));
}

const defaults = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};

const described = ({ action, content }: ElicitationResponse) =>
  textResult(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);

const schemaTool = {
  name: 'json_schema_2020_12_tool',
  inputSchema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object' as const,
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  },
};

const suiteTools: Record<string, SuiteTool> = {
  [schemaTool.name]: async () => textResult('done'),
  test_logging_tool: async () => textResult('done'),
  test_streaming_elicitation: asksForName,
  test_elicitation: async ({ ask }, { message }) =>
    described(
      await ask(
        String(message),
        { username: { type: 'string', description: 'Your name' }, email: { type: 'string' } },
        { required: ['username', 'email'] },
      ),
    ),
  test_elicitation_sep1034_defaults: async ({ ask }) => described(await ask('Please check', defaults)),
  test_elicitation_sep1330_enums: async ({ ask }) => described(await ask('Please choose', enums)),
  async test_reconnection({ sleep }) {
    await sleep(500);
    return textResult('done');
  },
  test_simple_text: async () => textResult('This is a simple text response for testing.'),
  test_error_handling: async () => ({
    ...textResult('This tool intentionally returns an error for testing'),
    isError: true,
  }),
  async test_tool_with_progress({ progress }) {
    for (const words of ['0', '50', '100']) {
      progress(words);
      await delay(50);
    }
    return textResult('done');
  },
  test_input_required_result_elicitation: asksForName,
  async test_input_required_result_request_state({ ask }) {
    await ask('Please confirm', { ok: { type: 'boolean' } }, { required: ['ok'] });
    return textResult('state-ok');
  },
  async test_input_required_result_multi_round({ ask }) {
    await ask('Step 1: What is your name?', name, { required: ['name'] });
    await ask('Step 2: What is your favorite color?', { color: { type: 'string' } }, { required: ['color'] });
    return textResult('done');
  },
  test_input_required_result_tampered_state: asksForName,
  test_input_required_result_capabilities: asksForName,

  greet: async (_, { name: given }) => textResult(`Hello, ${String(given)}!`),
  async slow_compute({ sleep }, { seconds }) {
    await sleep(Number(seconds ?? 0) * 1_000);
    return textResult('computed');
  },
  async failing_job({ sleep }) {
    await sleep(pastTaskMs);
    return { ...textResult('it failed'), isError: true };
  },
  async protocol_error_job({ sleep }) {
    await sleep(pastTaskMs);
    throw new Error('a protocol error');
  },
  async confirm_delete({ ask, sleep }) {
    await sleep(pastTaskMs);
    await ask('Delete it?', confirm);
    return textResult('deleted');
  },
  async multi_input({ ask, sleep }) {
    await sleep(pastTaskMs);
    await Promise.all([
      ask('The first', { ...name, ...confirm }),
      ask('The second', { ...name, ...confirm }),
    ]);
    return textResult('both');
  },
  async test_tool_with_task({ ask, sleep }) {
    const answered = await ask('What is your name?', name, { required: ['name'] });
    await sleep(pastTaskMs);
    return greeting(answered);
  },
};

interface Running {
  found: FoundTurn;
  stop: AbortController;
  changed: EventEmitter;
  words: string[];
  questions: Map<
    string,
    { question: Question; required: string[]; settle: (response: ElicitationResponse) => void }
  >;
  ended?: Ended;
}

type Ended = { status: 'completed' | 'failed'; result: ToolResult } | { status: 'cancelled' };

/** What the code of the older MCP era calls on the service directly: questions by their id. */
type Questions = Pick<Service, 'findQuestion' | 'answerQuestion'>;

export function createSuiteLayer(): { layer: ToolLayer; questions: Questions } {
  const turns = new Map<string, Running>();
  const runningOf = ({ turnId }: Pick<OwnTurn, 'turnId'>) => turns.get(turnId);

  function run(name: string, given: Record<string, unknown>): OwnTurn {
    const turn = { tenant: 'demo', conversation: 'suite', turnId: randomUUID() } as OwnTurn;
    const found: FoundTurn = {
      turn,
      agent: name,
      status: 'running',
      createdAt: Date.now(),
      endedAt: null,
      usage: null,
    };
    const running: Running = {
      found,
      stop: new AbortController(),
      changed: new EventEmitter(),
      words: [],
      questions: new Map(),
    };
    turns.set(turn.turnId, running);
    const end = (ended: Ended) => {
      running.ended ??= ended;
      running.changed.emit('change');
    };
    const tool = suiteTools[name];
    tool?.(
      {
        ask: (message, properties, { required = [], key = randomUUID() } = {}) =>
          ask(running, { elicitationId: key, message, properties, required }),
        sleep: (ms) => delay(ms, undefined, { signal: running.stop.signal }),
        progress(words) {
          running.words.push(words);
          running.changed.emit('change');
        },
      },
      given,
    ).then(
      (result) => end({ status: 'completed', result }),
      (error: unknown) =>
        end(
          running.stop.signal.aborted
            ? { status: 'cancelled' }
            : { status: 'failed', result: errorResult(String(error)) },
        ),
    );
    return turn;
  }

  /** A string is the reason why the content does not fit; null means there is no such question. */
  function answer(
    { questions }: Running,
    elicitationId: string,
    { action, content = {} }: ElicitationResponse,
  ) {
    const asked = questions.get(elicitationId);
    if (!asked) return null;
    const missing = action === 'accept' && asked.required.find((key) => !(key in content));
    if (typeof missing === 'string') return `${missing}: is required`;
    asked.settle({ action, content });
    return 'settled' as const;
  }

  const layer: ToolLayer = {
    list: async () =>
      Object.keys(suiteTools).map((name) => ({
        name,
        title: name,
        description: `${name} of the suite`,
        inputSchema: name === schemaTool.name ? schemaTool.inputSchema : { type: 'object' },
        annotations: {},
      })),
    start: async (_, { name, arguments: given }) =>
      name in suiteTools ? { kind: 'turn', turn: run(name, given) } : null,
    find: async (_, ids) => runningOf(ids)?.found ?? null,
    async answer(_, turn, { elicitationId, response }) {
      const running = runningOf(turn);
      const answered = running ? answer(running, elicitationId, response) : null;
      if (answered === null) return null;
      return answered === 'settled' ? { kind: 'settled' } : { kind: 'misfit', reasons: answered };
    },
    async follow(turn, { signal, holdMs, onProgress }) {
      const running = runningOf(turn);
      if (!running) throw new Error('no such turn');
      const until = AbortSignal.any([signal, AbortSignal.timeout(holdMs)]);
      const isUnchanged = () => running.ended === undefined && running.questions.size === 0;
      while (isUnchanged() && !until.aborted)
        await once(running.changed, 'change', { signal: until }).catch(() => undefined);
      // Time for questions that are asked in parallel.
      await delay(20);
      for (const words of running.words.splice(0)) onProgress?.(words);
      return stageOf(running);
    },
    watch(turn, { signal, onNews, onProgress }) {
      const running = runningOf(turn);
      if (!running) throw new Error('no such turn');
      const report = () => {
        for (const words of running.words.splice(0)) onProgress(words);
        onNews();
      };
      running.changed.on('change', report);
      signal.addEventListener('abort', () => running.changed.off('change', report));
      report();
      return { stage: (answered) => stageOf(running, answered) };
    },
    async cancel(_, turn) {
      const running = runningOf(turn);
      running?.stop.abort();
      if (running) running.ended ??= { status: 'cancelled' };
      running?.changed.emit('change');
    },
  };

  const questions: Questions = {
    async findQuestion(_, elicitationId) {
      for (const { found, questions: asked } of turns.values()) {
        const question = asked.get(elicitationId)?.question;
        if (question) return { turn: found.turn, question };
      }
      return null;
    },
    async answerQuestion(_, { elicitationId, response }) {
      for (const running of turns.values()) {
        const answered = answer(running, elicitationId, response);
        if (answered === 'settled') return { kind: 'recorded', outcome: response.action, duplicate: false };
        if (answered !== null) throw new ServiceError('invalid_content', answered);
      }
      throw new ServiceError('elicitation_not_found', 'There is no such question.');
    },
  };
  return { layer, questions };
}

function stageOf(running: Running, answered: ReadonlySet<string> = new Set()): CallStage {
  const at = Date.now();
  if (running.ended) return { kind: 'done', at, result: errorResult('cancelled'), ...running.ended };
  const open = [...running.questions.values()].map(({ question }) => question);
  const questions = open.filter(({ elicitationId }) => !answered.has(elicitationId));
  return questions.length > 0
    ? { kind: 'asks', at, questions, open }
    : { kind: 'working', at, awaited: open, open };
}

interface Asked {
  elicitationId: string;
  message: string;
  properties: object;
  required: string[];
}

function ask(
  running: Running,
  { elicitationId, message, properties, required }: Asked,
): Promise<ElicitationResponse> {
  return new Promise((resolve) => {
    const question: Question = {
      type: 'elicitation-request',
      page: 'https://interlude.example/auth/answer?e=1',
      elicitationId,
      mode: 'form',
      message,
      requestedSchema: { type: 'object', properties, required },
      context: { trigger: 'tool_elicitation' },
      status: 'pending',
      expiresAt: new Date(Date.now() + 60_000).toISOString(),
    };
    const settle = (response: ElicitationResponse) => {
      running.questions.delete(elicitationId);
      resolve(response);
    };
    running.questions.set(elicitationId, { question, required, settle });
    running.changed.emit('change');
  });
}
