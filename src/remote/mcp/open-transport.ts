/** The transport to a server, HTTP or a process, and a log of the messages sent on it. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { FetchLike, JSONRPCMessage } from '@modelcontextprotocol/client';
import { trackedRequest } from '@interlude-ai/core/mcp/tracked-request.ts';
import type { ServerConfig } from '../../platform/config/config.ts';
import type { Credential } from '../../credentials/credential-store.ts';
import type { CallListener } from '../remote-servers.ts';
import type { Deadline } from '../deadline.ts';
import type { Session } from '@interlude-ai/core/mcp/input-required.ts';
import { headersOf, withTrace } from '../request-account.ts';
import { StdioTransport } from '@interlude-ai/core/mcp/stdio/transport.ts';
import { withoutSpans } from '../../platform/telemetry/traces/requests.ts';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';
import { readableResponse } from '@interlude-ai/core/mcp/readable-messages.ts';
import type { Exchange, ExchangeLog } from '@interlude-ai/core/mcp/tracked-request.ts';

type McpTransport = StreamableHTTPClientTransport | StdioTransport;

export interface Operation {
  deadline: Deadline;
  /** Gets every message of the server before the SDK handles it. */
  onMessage?: (message: JSONRPCMessage) => void;
  /** Called for each message that is being sent. */
  onSending?: ((exchange: Exchange) => void) | undefined;
}

export interface Destination extends Operation {
  server: ServerConfig;
  credential: Credential;
  /** To be joined instead of a handshake. Whether it still exists shows with the first request. */
  session?: Session | undefined;
  onProcessExit?: CallListener['onProcessExit'] | undefined;
}

export interface OpenTransport {
  transport: McpTransport;
  exchanges: ExchangeLog;
  /** Changes the credential of all further requests. */
  setCredential(credential: Credential): void;
  /** Whether the credential is unchanged and no message on the standing stream was missed. */
  isReusable(): boolean;
  /** Starts another operation, with an empty log. */
  begin(signal: AbortSignal, onSending: Operation['onSending']): void;
}

export function openTransport(destination: Destination, canAsk: boolean): OpenTransport {
  const { server, onProcessExit, onSending } = destination;
  if (!server.process) return openHttp(destination, canAsk);
  const transport = new StdioTransport(server.process, { onProcessExit, onSending });
  // A process has no account, and serves only once.
  return {
    transport,
    exchanges: transport.exchanges,
    setCredential: () => undefined,
    isReusable: () => false,
    begin: () => undefined,
  };
}

function openHttp(
  { server, credential, deadline, session, onSending }: Destination,
  canAsk: boolean,
): OpenTransport {
  const tracked = createTrackedFetch(deadline.signal, { standingStream: canAsk, onSending });
  // The SDK reads this object for every request.
  const headers = headersOf(server, credential);
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    fetch: (address, init) => tracked.fetch(address, withTrace(server, init)),
    requestInit: { headers },
    ...session,
  });
  let isChanged = false;
  return {
    transport,
    exchanges: tracked,
    begin: tracked.begin,
    isReusable: () => !isChanged && tracked.isListening(),
    setCredential(next) {
      for (const [name, value] of headersOf(server, next)) {
        if (headers.get(name) !== value) isChanged = true;
        headers.set(name, value);
      }
    },
  };
}

interface TrackedFetch extends ExchangeLog {
  /** Starts another operation, with an empty log. */
  begin(signal: AbortSignal, onSending: Options['onSending']): void;
  /** False when the standing stream has ended: messages may have been missed. */
  isListening(): boolean;
  fetch: FetchLike;
  /** The exchange of the latest call of `fetch`. */
  latest(): Exchange;
}

/** Some servers send no headers before they have something to send. */
const standingStreamTimeoutMs = 500;

/** The SDK ends these requests, not the signal, so that their cancellation still reaches the server. */
const outlivesSignal = new Set(['tools/call', 'notifications/cancelled', 'DELETE']);

/** These run no tool, so they may be sent again when a pooled connection turns out to be dead. */
const handshakes = new Set(['server/discover', 'initialize']);

interface Options {
  /** Whether messages that belong to no request are wanted, so that their stream is opened. */
  standingStream?: boolean;
  /** Called when a request is being written to its socket. Work started there comes after it. */
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
    // Refusals of these are normal: a server may not support the version, and may have no standing stream.
    const mayBeRefused = options.isHarmless || isStandingStream(init);
    return readableResponse(await (mayBeRefused ? withoutSpans(request) : request()));
  }

  return {
    async fetch(url, init) {
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
      // A redirect may lead to the stream.
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
      // The SDK requests it in the background.
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
