/** A cassette in tests: as a transport for a client, or as a client for a server. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import type { Answer, AnswerSource } from '../answers/source.ts';
import type { AnyClient } from '../call/any-client.ts';
import type { ToolCallReport } from '../call/call-events.ts';
import { callTool } from '../call/call-tool.ts';
import type { CallToolOptions } from '../call/call-tool.ts';
import { redacted } from './cassette.ts';
import type { Cassette, Exchange, Said } from './cassette.ts';
import { record } from './record.ts';
import { createReplayServer, differenceOf, isSame } from './replay-server.ts';
import type { Difference } from './replay-server.ts';

export interface Replay {
  /** The client under test connects to it. */
  transport: Transport;
  /** How the client differs from the recording. */
  differences: Difference[];
  /** Sentences about recorded calls that did not happen. */
  missing(): string[];
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
      // The client answers a request of the server with another message, so this must not wait for the end.
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
 * Repeats the recorded calls at a server under test with the recorded answers; `answers` are for redacted ones.
 * Everything that the server sends differently is a difference, except its state.
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

/** Calls with all their rounds: a round begins a call unless it continues the previous one. */
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

/** As many as were recorded. In the old era each question is a round. */
function countRounds(rounds: readonly Exchange[]): number {
  return rounds.length + rounds.flatMap(({ during = [] }) => during).length;
}

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

/** Questions are numbered through the recording: here from the first of their round. */
function renumbered(during: readonly Said[]): Said[] {
  const ids = during.flatMap((said) => ('server' in said ? (said.server.id ?? []) : []));
  const place = (id: number) => ids.indexOf(id) + 1;
  return during.map((said) => {
    if ('client' in said) return { client: { ...said.client, id: place(said.client.id) } };
    const { id } = said.server;
    return id === undefined ? said : { server: { ...said.server, id: place(id) } };
  });
}

/** Without members that are specific to a client, and with only the presence of the state. */
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
