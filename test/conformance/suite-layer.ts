/**
 * A tool layer in memory, for the tools of the MCP conformance suite. The code above it, which speaks the protocol, is the
 * product's.
 */
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { CallStage, Question } from '../../src/api/mcp/tools/follow-call.ts';
import type { ToolLayer } from '../../src/api/mcp/tools/tool-layer.ts';
import { errorResult } from '../../src/api/mcp/tools/tool.ts';
import type { ToolResult } from '../../src/api/mcp/tools/tool.ts';
import type { ElicitationResponse } from '../../src/elicitation/elicitation.ts';
import type { FoundTurn, OwnTurn } from '../../src/service/own-turn.ts';
import { ServiceError } from '../../src/service/service-error.ts';
import type { Service } from '../../src/service/service.ts';
import { schemaTool, suiteTools } from './suite-tools.ts';

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
