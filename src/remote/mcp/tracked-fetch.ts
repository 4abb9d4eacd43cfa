/** The HTTP requests of one MCP operation, and how far each of them got. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FetchLike } from '@modelcontextprotocol/client';
import { withoutSpans } from '../../telemetry/traces/outgoing.ts';
import { withTimeout } from '../../time/with-timeout.ts';
import { trackedRequest } from '../tracked-request.ts';
import type { Exchange, ExchangeLog } from './exchange.ts';
import { readableResponse } from './readable-messages.ts';

export interface TrackedFetch extends ExchangeLog {
  /** Another operation takes over: of requests before it nothing is known any more. */
  begin(signal: AbortSignal, onSending: Options['onSending']): void;
  /** False when the standing stream was open and is not any more: something may have been said on it. */
  isListening(): boolean;
  fetch: FetchLike;
  /** The exchange that the call of `fetch` just before began. */
  latest(): Exchange;
}

/** For servers that open the standing stream only when they have something to say on it. */
const standingStreamTimeoutMs = 500;

/** Aborting these must still let their cancellation reach the server, so the SDK ends them, not the signal. */
const outlivesSignal = new Set(['tools/call', 'notifications/cancelled', 'DELETE']);

/** These run no tool, and may be sent again when a pooled connection turns out to be dead. */
const handshakes = new Set(['server/discover', 'initialize']);

interface Options {
  /** Somebody listens for what belongs to no request, so that the stream for it is of use. */
  standingStream?: boolean;
  /** Called when a request is being written to its socket; what is begun from there comes after it. */
  onSending?: ((exchange: Exchange) => void) | undefined;
}

export function createTrackedFetch(
  first: AbortSignal,
  { standingStream = false, ...options }: Options = {},
): TrackedFetch {
  let operation = { signal: first, onSending: options.onSending };
  let exchanges: Exchange[] = [];
  const notifications = new Set<Promise<unknown>>();
  let standing: { opened: Promise<unknown>; exchange: Exchange } | undefined;

  async function send(
    url: string | URL,
    init: RequestInit | undefined,
    exchange: Exchange,
  ): Promise<Response> {
    const { signal, onSending } = operation;
    const signals = [init?.signal, outlivesSignal.has(exchange.method) ? undefined : signal];
    const options = {
      signal: AbortSignal.any(signals.filter((one) => one !== undefined && one !== null)),
      isHarmless: handshakes.has(exchange.method),
      onSending: onSending && (() => onSending(exchange)),
    };
    const request = () => trackedRequest(url, init, exchange, options);
    // Servers may refuse what they do not speak, and have no standing stream.
    const mayBeRefused = options.isHarmless || isStandingStream(init);
    return readableResponse(await (mayBeRefused ? withoutSpans(request) : request()));
  }

  return {
    async fetch(url, init) {
      // The standing stream of older servers.
      const headers = new Headers(init?.headers);
      const isStanding = isStandingStream(init);
      if (isStanding && !standingStream) return new Response(null, { status: 405 });
      const exchange: Exchange = {
        ...messageOf(init),
        isInSession: headers.has('mcp-session-id'),
        isSent: false,
        isStream: false,
        challenge: null,
      };
      exchanges.push(exchange);
      const response = send(url, init, exchange);
      // It may be somewhere else than where it was asked for.
      if (isStanding && (!standing || isRedirect(standing.exchange)))
        standing = { opened: standing?.opened ?? response.catch(() => {}), exchange };
      if (exchange.method.startsWith('notifications/')) {
        const delivered = response.catch(() => {}).finally(() => notifications.delete(delivered));
        notifications.add(delivered);
      }
      return response;
    },
    last: (method) => exchanges.findLast((exchange) => method === undefined || exchange.method === method),
    latest() {
      const exchange = exchanges.at(-1);
      if (!exchange) throw new Error('nothing was sent yet');
      return exchange;
    },
    async listening() {
      // The SDK asks for it beside what it does for us.
      await nextTurn();
      await withTimeout(standing?.opened, standingStreamTimeoutMs, undefined, { ref: false });
    },
    begin(signal, onSending) {
      operation = { signal, onSending };
      exchanges = [];
    },
    isListening: () => standing === undefined || !isOver(standing.exchange),
    settled: async () => void (await Promise.all(notifications)),
  };
}

function isStandingStream(init: RequestInit | undefined): boolean {
  return init?.method === 'GET' && !new Headers(init.headers).has('last-event-id');
}

function isRedirect({ status = 0 }: Exchange): boolean {
  return status >= 300 && status < 400;
}

function isOver({ isStream, isRead, failure }: Exchange): boolean {
  return failure !== undefined || (isStream && isRead === true);
}

function messageOf(init: RequestInit | undefined): Pick<Exchange, 'method' | 'id'> {
  if (typeof init?.body !== 'string') return { method: init?.method ?? 'GET', id: undefined };
  const message = JSON.parse(init.body) as { method?: string; id?: unknown };
  return { method: message.method ?? 'response', id: message.id };
}
