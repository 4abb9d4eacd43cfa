/**
 * The HTTP requests of one MCP operation, and how far each of them got.
 *
 * Whether a tool may have run is decided by this and nothing else: undici says when it begins to write a request to
 * an open socket. Before that moment nothing left this machine; after it, only an answer brings certainty. Errors
 * cannot tell the two apart (a reset can come before or after the server read the request).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Agent, fetch as undiciFetch } from 'undici';
import type { Dispatcher, RequestInit as UndiciRequestInit } from 'undici';
import type { FetchLike } from '@modelcontextprotocol/client';
import { withTimeout } from '../../time/with-timeout.ts';
import { errorCodeOf } from '../error-code.ts';
import { limitedBody } from '../response-body.ts';
import type { Exchange, ExchangeLog } from './exchange.ts';

export interface TrackedFetch extends ExchangeLog {
  /** Another operation takes over: of requests before it nothing is known any more. */
  begin(signal: AbortSignal, onSending: Options['onSending']): void;
  /** False when the standing stream was open and is not any more: something may have been said on it. */
  isListening(): boolean;
  fetch: FetchLike;
  /** The exchange that the call of `fetch` just before began. */
  latest(): Exchange;
}

// Streams may rest for as long as a tool takes: the operation's own deadline is the only clock. Idle connections are
// given up soon, whatever the server offers: one that died unnoticed would turn a call's outcome into "unknown".
const timeouts = { bodyTimeout: 0, headersTimeout: 0, connect: { timeout: 10_000 } };
const pool = new Agent({ ...timeouts, keepAliveTimeout: 4_000, keepAliveMaxTimeout: 4_000 });
/** Opens a connection for each request. */
const unpooled = new Agent({ ...timeouts, pipelining: 0 });

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
    const request = (agent: Agent) =>
      undiciFetch(url, {
        // Whoever wants them followed sees to it that they stay with the server: what we send is for nobody else.
        redirect: 'manual',
        ...(init as UndiciRequestInit),
        signal: AbortSignal.any(signals.filter((one) => one !== undefined && one !== null)),
        dispatcher: agent.compose(trackSending(exchange, onSending)),
      });
    try {
      const response = (await request(pool).catch((error: unknown) => {
        if (handshakes.has(exchange.method) && isBroken(error)) return request(unpooled);
        throw error;
      })) as unknown as Response;
      exchange.status = response.status;
      exchange.isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
      exchange.challenge = response.headers.get('www-authenticate');
      return withLimitedBody(response, exchange);
    } catch (error) {
      exchange.failure = error;
      throw error;
    }
  }

  return {
    async fetch(url, init) {
      // The standing stream of older servers.
      const isStanding = init?.method === 'GET' && !new Headers(init.headers).has('last-event-id');
      if (isStanding && !standingStream) return new Response(null, { status: 405 });
      const exchange: Exchange = { ...messageOf(init), isSent: false, isStream: false, challenge: null };
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

/** The other side closed the connection instead of answering, as it does with one that it has already given up. */
function isBroken(error: unknown): boolean {
  return ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(errorCodeOf(error));
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

function trackSending(
  exchange: Exchange,
  onSending: Options['onSending'],
): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart(controller, context) {
        exchange.isSent = true;
        // The body is written in the same turn of the event loop.
        if (onSending) setImmediate(onSending, exchange);
        handler.onRequestStart?.(controller, context);
      },
      onRequestUpgrade: (...given) => handler.onRequestUpgrade?.(...given),
      onResponseStart: (...given) => handler.onResponseStart?.(...given),
      onResponseData: (...given) => handler.onResponseData?.(...given),
      onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
      onResponseError: (...given) => handler.onResponseError?.(...given),
    });
}

function withLimitedBody(response: Response, exchange: Exchange): Response {
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  const body = limitedBody(response.body, {
    onFailure: (error) => (exchange.failure = error),
    onEnd: () => (exchange.isRead = true),
  });
  return new Response(body, { status, statusText, headers });
}
