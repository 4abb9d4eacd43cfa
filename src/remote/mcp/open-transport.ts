/** The transport to a server, HTTP or a process, and the log of what is exchanged on it. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../config/config.ts';
import type { Credential } from '../../credentials/store.ts';
import type { CallListener } from '../call-listener.ts';
import type { Deadline } from '../deadline.ts';
import type { Session } from '../input-required.ts';
import { headersOf, withTrace } from '../request-headers.ts';
import type { Exchange, ExchangeLog } from './exchange.ts';
import { StdioTransport } from './stdio/transport.ts';
import { createTrackedFetch } from './tracked-fetch.ts';

export type McpTransport = StreamableHTTPClientTransport | StdioTransport;

/** What one operation on a connection brings along. */
export interface Operation {
  deadline: Deadline;
  /** Sees every message of the server before the SDK interprets it. */
  onMessage?: (message: JSONRPCMessage) => void;
  /** Called for each message of ours that is on its way. */
  onSending?: ((exchange: Exchange) => void) | undefined;
}

export interface Destination extends Operation {
  server: ServerConfig;
  credential: Credential;
  /** To be joined instead of a handshake: whether it is still there shows with the first request. */
  session?: Session | undefined;
  onProcessExit?: CallListener['onProcessExit'] | undefined;
}

export interface OpenTransport {
  transport: McpTransport;
  exchanges: ExchangeLog;
  /** Requests are sent with another credential from now on. */
  setCredential(credential: Credential): void;
  /** As it was opened: with the same credential, and nothing was missed of what the server says beside calls. */
  isReusable(): boolean;
  /** Another operation takes over: of requests before it nothing is known any more. */
  begin(signal: AbortSignal, onSending: Operation['onSending']): void;
}

export function openTransport(destination: Destination, canAsk: boolean): OpenTransport {
  const { server, onProcessExit, onSending } = destination;
  if (!server.process) return openHttp(destination, canAsk);
  const transport = new StdioTransport(server.process, { onProcessExit, onSending });
  // A process has no account of anybody's, and serves once.
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
  // Read anew for every request.
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
