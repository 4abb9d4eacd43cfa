/** The way to a server, and what is known of what travels on it. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../config/config.ts';
import type { Credential } from '../../credentials/store.ts';
import type { Deadline } from '../deadline.ts';
import { headersOf } from '../request-headers.ts';
import type { Session } from '../input-required.ts';
import type { ProcessReport } from './stdio/process.ts';
import { StdioTransport } from './stdio/transport.ts';
import { openWire } from './tracked-fetch.ts';
import type { Exchange, Wire } from './tracked-fetch.ts';

export type McpTransport = StreamableHTTPClientTransport | StdioTransport;

/** What one operation on a connection brings along. */
export interface Operation {
  deadline: Deadline;
  /** Sees every message of the server before the SDK interprets it. */
  onMessage?: (message: JSONRPCMessage) => void;
  /** Hears of each message of ours that is on its way. */
  onLeft?: ((exchange: Exchange) => void) | undefined;
}

export interface Destination extends Operation {
  server: ServerConfig;
  credential: Credential;
  /** To be joined instead of a handshake: whether it is still there shows with the first request. */
  session?: Session | undefined;
  /** For a process: what is to be said of it when it has ended. */
  onReport?: ((report: ProcessReport) => void) | undefined;
}

export interface OpenTransport {
  transport: McpTransport;
  wire: Wire;
  /** From now on with another credential. */
  renew(credential: Credential): void;
  /** As it was opened: with the same credential, and nobody has missed what the server says beside calls. */
  isWhole(): boolean;
  /** Another operation takes over: of requests before it nothing is known any more. */
  begin(signal: AbortSignal, onLeft: Operation['onLeft']): void;
}

export function openTransport(
  { server, credential, deadline, session, onReport, onLeft }: Destination,
  canAsk: boolean,
): OpenTransport {
  if (server.process) {
    const transport = new StdioTransport(server.process, { onReport, onLeft });
    // A process has no account of anybody's, and serves once.
    return {
      transport,
      wire: transport.wire,
      renew: () => undefined,
      isWhole: () => false,
      begin: () => undefined,
    };
  }
  const wire = openWire(deadline.signal, { standingStream: canAsk, onLeft });
  // Read anew for every request.
  const headers = headersOf(server, credential);
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    fetch: wire.fetch,
    requestInit: { headers },
    ...session,
  });
  let isRenewed = false;
  return {
    transport,
    wire,
    begin: wire.begin,
    isWhole: () => !isRenewed && wire.isListening(),
    renew(next) {
      for (const [name, value] of headersOf(server, next)) {
        if (headers.get(name) !== value) isRenewed = true;
        headers.set(name, value);
      }
    },
  };
}
