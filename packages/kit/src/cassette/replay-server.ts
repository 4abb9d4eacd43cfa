/**
 * Replays a cassette as a server for a client under test, and records how the client differs. Calls come in the recorded order;
 * other requests may come any number of times.
 */
import { diff } from 'node:util';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { stringify } from 'yaml';
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { isModern, redacted } from './cassette.ts';
import type { Cassette, Exchange, Said } from './cassette.ts';

export interface Difference {
  /** One sentence. */
  what: string;
  /** `-` recorded, `+` now. */
  lines: string[];
}

type Send = (message: JSONRPCMessage) => void;

export type ReplayServer = ReturnType<typeof createReplayServer>;

/** They have effects: each recorded one is served once, in order. */
const inOrder = new Set(['tools/call', 'prompts/get', 'resources/read']);
const notFound = -32601;
const differs = -32600;

export function createReplayServer(cassette: Cassette) {
  const left = cassette.exchanges.filter(({ request }) => inOrder.has(request.method));
  const differences: Difference[] = [];
  /** Answers that the recording waits for, by the id of the server's request. */
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
    const answers = new Map<number, Promise<JSONRPCMessage>>();
    for (const said of exchange.during ?? []) {
      if ('server' in said) say(said, { answers, token, send });
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
    { answers, token, send }: { answers: Map<number, Promise<JSONRPCMessage>>; token: unknown; send: Send },
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
    const { promise, resolve } = Promise.withResolvers<JSONRPCMessage>();
    awaited.set(wireId, resolve);
    answers.set(id, promise);
    send({ ...message, id: wireId } as JSONRPCMessage);
  }

  return {
    differences,
    /** Sentences about recorded calls that did not happen. */
    missing: () =>
      left.map(
        ({ request }) => `${request.method} ${nameIn(request.params)} was recorded, and was not called.`,
      ),
    /** `send` gets everything that belongs to this message: for a request, everything until its response. */
    async receive(message: JSONRPCMessage, send: Send): Promise<void> {
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
      // Without a recorded response, the client waits as it did then.
      if (exchange.response) send({ jsonrpc: '2.0', id, ...exchange.response } as JSONRPCMessage);
    },
  };
}

/** For recordings without a handshake, as of the second SDK on stdio. */
function discoveryOf({ protocol }: Cassette): Record<string, unknown> {
  return {
    resultType: 'complete',
    supportedVersions: [protocol],
    capabilities: { tools: {} },
    ttlMs: 0,
    cacheScope: 'private',
  };
}

/** Without members that are specific to the client. */
function comparable(params: unknown): unknown {
  if (!isRecord(params)) return {};
  const { _meta, ...rest } = params;
  return rest;
}

function nameIn(params: unknown): string {
  const name = isRecord(params) ? (params['name'] ?? params['uri']) : undefined;
  return typeof name === 'string' ? name : '';
}

// Comparing messages with a recording. Redacted values match anything.

export function isSame(recorded: unknown, now: unknown): boolean {
  if (typeof recorded === 'string' && recorded.includes(redacted)) return fitsRedacted(recorded, String(now));
  if (Array.isArray(recorded))
    return (
      Array.isArray(now) &&
      now.length === recorded.length &&
      recorded.every((item, at) => isSame(item, now[at]))
    );
  if (!isRecord(recorded)) return Object.is(recorded, now);
  if (!isRecord(now)) return false;
  const names = new Set([...Object.keys(recorded), ...Object.keys(now)]);
  return [...names].every((name) => isSame(recorded[name], now[name]));
}

function fitsRedacted(recorded: string, now: string): boolean {
  const parts = recorded.split(redacted);
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  if (!now.startsWith(first) || !now.endsWith(last) || now.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = now.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= now.length - last.length;
}

/** Lines begin with `-` (recorded), `+` (now) or a space; long unchanged parts are left out. */
export function differenceOf(recorded: unknown, now: unknown): string[] {
  const text = (value: unknown) => stringify(value, { lineWidth: 0 }).trimEnd().split('\n');
  const lines = diff(text(recorded), text(alike(recorded, now))).map(([sign, line]) => ({ sign, line }));
  const isNear = (at: number) =>
    lines.slice(Math.max(0, at - context), at + context + 1).some(({ sign }) => sign !== 0);
  return lines.flatMap(({ sign, line }, at) => {
    if (isNear(at)) return [`${sign === 0 ? ' ' : sign > 0 ? '-' : '+'} ${line}`];
    return isNear(at - 1) && at > 0 ? ['  …'] : [];
  });
}

const context = 3;

/** A value that matches a redacted one is no difference. */
function alike(recorded: unknown, now: unknown): unknown {
  if (isSame(recorded, now)) return recorded;
  if (Array.isArray(now))
    return now.map((item, at) => alike(Array.isArray(recorded) ? recorded[at] : undefined, item));
  if (!isRecord(now) || !isRecord(recorded)) return now;
  // In the recorded order, so that only differences show.
  const names = [
    ...Object.keys(recorded).filter((name) => name in now),
    ...Object.keys(now).filter((name) => !(name in recorded)),
  ];
  return Object.fromEntries(names.map((name) => [name, alike(recorded[name], now[name])]));
}
