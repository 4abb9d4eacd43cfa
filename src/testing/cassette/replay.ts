/** A cassette in tests: as the transport of a client, or as the client of a server. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { isRecord } from '../../elicitation/form/schema-keywords.ts';
import type { AnyClient } from '../call/any-client.ts';
import { callTool } from '../call/call-tool.ts';
import type { CallToolOptions } from '../call/call-tool.ts';
import type { ToolCallReport } from '../call/call-events.ts';
import type { Answer, AnswerSource } from '../answers/source.ts';
import { redacted } from './cassette.ts';
import type { Cassette, Exchange, Said } from './cassette.ts';
import { differenceOf, isSame } from './compare.ts';
import { record } from './record.ts';
import { createReplayServer } from './replay-server.ts';
import type { Difference, ReplayServer } from './replay-server.ts';

export interface Replay extends Pick<ReplayServer, 'differences' | 'missing'> {
  /** Connect the client under test to it. */
  transport: Transport;
}

/** The recorded server, for a client under test. */
export function replay(cassette: Cassette): Replay {
  const server = createReplayServer(cassette);
  const transport: Transport = {
    start: () => Promise.resolve(),
    close() {
      transport.onclose?.();
      return Promise.resolve();
    },
    async send(message) {
      const deliver = (reply: JSONRPCMessage) => queueMicrotask(() => transport.onmessage?.(reply));
      // A request of the server's is answered with another message of the client's: nobody waits for its end here.
      for (const one of [message].flat())
        server.receive(one, deliver).catch((error: unknown) => transport.onerror?.(error as Error));
    },
  };
  return { transport, differences: server.differences, missing: server.missing };
}

export interface ReplayedCalls {
  reports: ToolCallReport[];
  differences: Difference[];
}

/**
 * The recorded calls at a server under test, with the recorded answers; `answers` are for those that were redacted. What
 * the server says differently is a difference, but for its state, which is its own.
 */
export async function replayCalls(
  client: AnyClient,
  cassette: Cassette,
  { answers = [], ...options }: CallToolOptions = {},
): Promise<ReplayedCalls> {
  const { transport } = client;
  if (!transport) throw new TypeError('The client is not connected.');
  const reports: ToolCallReport[] = [];
  const differences: Difference[] = [];
  for (const rounds of callsIn(cassette)) {
    const params = rounds[0]?.request.params ?? {};
    const recorder = record(transport);
    try {
      const source = recordedAnswers(rounds);
      const call = {
        name: String(params['name']),
        arguments: isRecord(params['arguments']) ? params['arguments'] : {},
      };
      reports.push(
        await callTool(client, call, {
          maxRounds: countRounds(rounds),
          ...options,
          answers: [source, ...[answers].flat()],
        }),
      );
      const now = callsIn(recorder.cassette())[0] ?? [];
      const [before, after] = [rounds.map(comparable), now.map(comparable)];
      if (!isSame(before, after))
        differences.push({
          what: `The server answers ${call.name} differently.`,
          lines: differenceOf(before, after),
        });
    } finally {
      recorder.stop();
    }
  }
  return { reports, differences };
}

/** Calls with all their rounds: a round begins a call unless it continues the one before. */
function callsIn({ exchanges }: Cassette): Exchange[][] {
  const calls: Exchange[][] = [];
  for (const exchange of exchanges) {
    const { method, params = {} } = exchange.request;
    if (method !== 'tools/call') continue;
    const current = calls.at(-1);
    if (('inputResponses' in params || 'requestState' in params) && current) current.push(exchange);
    else calls.push([exchange]);
  }
  return calls;
}

/** As many as were recorded; in the old era each question is a round. */
function countRounds(rounds: readonly Exchange[]): number {
  return rounds.length + rounds.flatMap(({ during = [] }) => during).length;
}

/** What was answered, round by round. */
function recordedAnswers(rounds: readonly Exchange[]): AnswerSource {
  const pushed = rounds.flatMap(({ during = [] }) =>
    during.flatMap((said) => ('client' in said && isRecord(said.client.result) ? [said.client.result] : [])),
  );
  let next = 0;
  return {
    name: 'the cassette',
    answer({ questions, round }) {
      const given = rounds[round]?.request.params?.['inputResponses'];
      const answers = new Map<string, Answer>();
      for (const { key } of questions) {
        const answer = isRecord(given) ? given[key] : pushed[next++];
        if (isRecord(answer) && !JSON.stringify(answer).includes(redacted))
          answers.set(key, answer as unknown as Answer);
      }
      return answers;
    },
  };
}

/** Questions are counted through a recording: here from the first of their round. */
function renumbered(during: readonly Said[]): Said[] {
  const ids = during.flatMap((said) => ('server' in said ? (said.server.id ?? []) : []));
  const place = (id: number) => ids.indexOf(id) + 1;
  return during.map((said) => {
    if ('client' in said) return { client: { ...said.client, id: place(said.client.id) } };
    const { id } = said.server;
    return id === undefined ? said : { server: { ...said.server, id: place(id) } };
  });
}

/** Without what differs with every client, and with the state as something that is there or not. */
function comparable({ request, during, response }: Exchange): unknown {
  const { _meta, requestState, ...params } = request.params ?? {};
  const opaque = (state: unknown) => (state === undefined ? {} : { requestState: '(opaque)' });
  const result = response?.result;
  const stripped = isRecord(result) ? withoutMeta(result) : result;
  return {
    request: { ...params, ...opaque(requestState) },
    ...(during && {
      during: renumbered(
        during.filter((said) => !('server' in said && said.server.method === 'notifications/progress')),
      ),
    }),
    response: response?.error ? { error: response.error } : { result: stripped },
  };

  function withoutMeta({ _meta: _, requestState: state, ...rest }: Record<string, unknown>) {
    return { ...rest, ...opaque(state) };
  }
}
