/**
 * A server out of a cassette, for a client under test: it says what the recorded server said, and keeps what the client
 * said differently. Calls come in the order of the recording; what only asks about the server may come any number of times.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isRecord } from '../../elicitation/form/schema-keywords.ts';
import { isModern } from './cassette.ts';
import type { Cassette, Exchange, Said } from './cassette.ts';
import { differenceOf, isSame } from './compare.ts';

export interface Difference {
  /** One sentence. */
  what: string;
  /** `-` recorded, `+` now. */
  lines: string[];
}

type Send = (message: JSONRPCMessage) => void;

export interface ReplayServer {
  isModern: boolean;
  /** `send` carries everything that belongs to this message: for a request, all until its response. */
  receive(message: JSONRPCMessage, send: Send): Promise<void>;
  differences: Difference[];
  /** Sentences about what was recorded and did not happen. */
  missing(): string[];
}

/** These have effects: each recorded one is served once, in its place. */
const inOrder = new Set(['tools/call', 'prompts/get', 'resources/read']);
const notFound = -32601;
const differs = -32600;

export function createReplayServer(cassette: Cassette): ReplayServer {
  const left = cassette.exchanges.filter(({ request }) => inOrder.has(request.method));
  const differences: Difference[] = [];
  /** Answers of the client that the recording waits for, by the id of the server's request. */
  const awaited = new Map<string | number, (message: JSONRPCMessage) => void>();
  let requests = 0;

  function find(method: string, params: unknown): Exchange | undefined {
    if (!inOrder.has(method))
      return cassette.exchanges.find(({ request, response }) => request.method === method && response);
    const at = left.findIndex(
      ({ request }) => request.method === method && isSame(comparable(request.params), comparable(params)),
    );
    return at < 0 ? undefined : left.splice(at, 1)[0];
  }

  async function play(exchange: Exchange, token: unknown, send: Send): Promise<void> {
    const ids = new Map<number, string>();
    const answers = new Map<number, Promise<JSONRPCMessage>>();
    for (const said of exchange.during ?? []) {
      if ('server' in said) say(said, { ids, answers, token, send });
      else {
        const { id, ...recorded } = said.client;
        const message = await answers.get(id);
        const now =
          message &&
          ('error' in message
            ? { error: message.error }
            : 'result' in message
              ? { result: message.result }
              : {});
        if (isSame(recorded, now)) continue;
        differences.push({
          what: 'The client answers a question differently.',
          lines: differenceOf(recorded, now),
        });
      }
    }
  }

  function say(
    { server }: Extract<Said, { server: object }>,
    {
      ids,
      answers,
      token,
      send,
    }: {
      ids: Map<number, string>;
      answers: Map<number, Promise<JSONRPCMessage>>;
      token: unknown;
      send: Send;
    },
  ): void {
    const { id, method, params } = server;
    const isProgress = method === 'notifications/progress';
    if (isProgress && token === undefined) return;
    const message = {
      jsonrpc: '2.0' as const,
      method,
      ...(params && { params: isProgress ? { ...params, progressToken: token } : params }),
    };
    if (id === undefined) return send(message as JSONRPCMessage);
    const wireId = `replay-${++requests}`;
    ids.set(id, wireId);
    const { promise, resolve } = Promise.withResolvers<JSONRPCMessage>();
    awaited.set(wireId, resolve);
    answers.set(id, promise);
    send({ ...message, id: wireId } as JSONRPCMessage);
  }

  return {
    isModern: isModern(cassette),
    differences,
    missing: () =>
      left.map(
        ({ request }) => `${request.method} ${nameIn(request.params)} was recorded, and was not called.`,
      ),
    async receive(message, send) {
      if (!('method' in message)) {
        if (message.id !== undefined) awaited.get(message.id)?.(message);
        return;
      }
      if (!('id' in message)) return;
      const { id, method } = message;
      const params: Record<string, unknown> = { ...message.params };
      if (method === 'ping') return send({ jsonrpc: '2.0', id, result: {} });
      const exchange = find(method, params);
      const refuse = (code: number, words: string) =>
        send({ jsonrpc: '2.0', id, error: { code, message: words } });
      if (!exchange && method === 'server/discover' && isModern(cassette))
        return send({ jsonrpc: '2.0', id, result: discoveryOf(cassette) });
      if (!exchange) {
        if (!inOrder.has(method)) return refuse(notFound, `${method} was not recorded.`);
        const what = `${method} ${nameIn(params)} was not recorded like this.`;
        const nearest = left.find(({ request }) => request.method === method);
        const lines = differenceOf(comparable(nearest?.request.params), comparable(params));
        differences.push({ what, lines });
        return refuse(differs, [what, ...lines].join('\n'));
      }
      const meta = params['_meta'];
      await play(exchange, isRecord(meta) ? meta['progressToken'] : undefined, send);
      // Recorded to its end, or else the client waits as it did then.
      if (exchange.response) send({ jsonrpc: '2.0', id, ...exchange.response } as JSONRPCMessage);
    },
  };
}

/** Where the recording has no handshake, as of the second SDK on stdio. */
function discoveryOf({ protocol }: Cassette): Record<string, unknown> {
  return {
    resultType: 'complete',
    supportedVersions: [protocol],
    capabilities: { tools: {} },
    ttlMs: 0,
    cacheScope: 'private',
  };
}

/** Without what is the client's own business. */
function comparable(params: unknown): unknown {
  if (!isRecord(params)) return {};
  const { _meta, ...rest } = params;
  return rest;
}

function nameIn(params: unknown): string {
  const name = isRecord(params) ? (params['name'] ?? params['uri']) : undefined;
  return typeof name === 'string' ? name : '';
}
