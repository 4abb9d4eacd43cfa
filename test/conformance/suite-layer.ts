/** A tool layer in memory, for the suite's tools: everything that speaks the protocol is the production's. */
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Question } from '../../src/api/mcp/tools/follow-call.ts';
import type { ToolLayer } from '../../src/api/mcp/tools/tool-layer.ts';
import type { ToolResult } from '../../src/api/mcp/tools/tool.ts';
import type { ElicitationResponse } from '../../src/elicitation/elicitation.ts';
import type { FoundTurn, OwnTurn } from '../../src/service/own-turn.ts';
import { suiteTools } from './suite-tools.ts';

interface Running {
  found: FoundTurn;
  stop: AbortController;
  changed: EventEmitter;
  words: string[];
  questions: Map<
    string,
    { question: Question; required: string[]; settle: (response: ElicitationResponse) => void }
  >;
  ended?: ToolResult | 'cancelled';
}

export function createSuiteLayer(): ToolLayer {
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
    const end = (result: ToolResult | 'cancelled') => {
      running.ended ??= result;
      running.changed.emit('change');
    };
    const tool = suiteTools[name];
    tool?.(
      {
        ask: (message, properties, { required = [], key = randomUUID() } = {}) =>
          ask(running, { elicitationId: key, message, properties, required }),
        sleep: (ms) => delay(ms, undefined, { signal: running.stop.signal }),
        progress: (words) => running.words.push(words),
      },
      given,
    ).then(end, (error: unknown) =>
      end(
        running.stop.signal.aborted
          ? 'cancelled'
          : { content: [{ type: 'text', text: String(error) }], isError: true },
      ),
    );
    return turn;
  }

  return {
    list: async () =>
      Object.keys(suiteTools).map((name) => ({
        name,
        title: name,
        description: `${name} of the suite`,
        inputSchema: { type: 'object' },
        annotations: {},
      })),
    start: async (_, { name, arguments: given }) =>
      name in suiteTools ? { kind: 'turn', turn: run(name, given) } : null,
    find: async (_, ids) => runningOf(ids)?.found ?? null,
    async answer(_, turn, { elicitationId, response }) {
      const asked = runningOf(turn)?.questions.get(elicitationId);
      if (!asked) return null;
      const missing =
        response.action === 'accept' && asked.required.find((key) => !(key in (response.content ?? {})));
      if (typeof missing === 'string') return { kind: 'misfit', reasons: `${missing}: is required` };
      asked.settle(response);
      return { kind: 'settled' };
    },
    async follow(turn, { signal, holdMs, onProgress }) {
      const running = runningOf(turn);
      if (!running) throw new Error('no such turn');
      const until = AbortSignal.any([signal, AbortSignal.timeout(holdMs)]);
      const isStill = () => running.ended === undefined && running.questions.size === 0;
      while (isStill() && !until.aborted)
        await once(running.changed, 'change', { signal: until }).catch(() => undefined);
      // Questions that are asked side by side.
      await delay(20);
      for (const words of running.words.splice(0)) onProgress?.(words);
      const at = Date.now();
      if (running.ended === 'cancelled')
        return { kind: 'done', at, status: 'cancelled', result: { content: [], isError: true } };
      if (running.ended) return { kind: 'done', at, status: 'completed', result: running.ended };
      const questions = [...running.questions.values()].map(({ question }) => question);
      return questions.length > 0
        ? { kind: 'asks', at, questions, open: questions }
        : { kind: 'working', at, awaited: [], open: [] };
    },
    async cancel(_, turn) {
      const running = runningOf(turn);
      running?.stop.abort();
      if (running) running.ended ??= 'cancelled';
      running?.changed.emit('change');
    },
  };
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
