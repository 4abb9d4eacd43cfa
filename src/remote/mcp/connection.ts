/**
 * A connection to an MCP server for one operation at a time. Each has a client of its own, so that calls of different users
 * are isolated, and every message from the server belongs to the current call.
 */
import { randomInt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import type {
  ClientCapabilities,
  JSONRPCMessage,
  JsonSchemaValidator,
  jsonSchemaValidator,
  PriorDiscovery,
  VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import packageJson from '../../../package.json' with { type: 'json' };
import type { ServerConfig } from '../../platform/config/config.ts';
import { cannotAsk } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import { sendBestEffort } from '../best-effort.ts';
import { openTransport } from './open-transport.ts';
import type { Destination, OpenTransport, Operation } from './open-transport.ts';
import type { ExchangeLog } from '@interlude-ai/core/mcp/tracked-request.ts';
import type { Era, ServerEras } from './server-eras.ts';
import { StdioTransport } from '@interlude-ai/core/mcp/stdio/transport.ts';

export interface Connection extends Omit<OpenTransport, 'begin'> {
  kind: 'connected';
  server: ServerConfig;
  client: Client;
  /** The era is from the cache, so the server may have changed since. */
  isEraCached: boolean;
  /** Starts another operation, after the previous one has ended. */
  beginOperation(next: Operation): void;
  /** Between two operations. */
  idle(onMessage: (message: JSONRPCMessage) => void): void;
  /** Ends the session at the server, in the background. */
  close(): void;
  /** Closes the connection here; session and call go on at the server. */
  detach(): Promise<void>;
}

export interface Target extends Destination {
  eras: ServerEras;
  tool?: string;
  /** Default: the era in which the server can ask. */
  era?: Era | undefined;
  /** Which questions can be shown. Absent: the server must not ask. */
  capabilities?: Capabilities;
  /** No tool is called, so nothing is asked, although `capabilities` are declared. */
  makesNoCalls?: boolean;
}

/** Without a connection, `exchanges` say why. */
export interface OpenResult {
  exchanges: ExchangeLog;
  connection?: Connection;
}

/** Disables the SDK's timeout: only the deadline of the operation counts. */
export const noTimeoutMs = 2 ** 31 - 1;
/** Old servers need not answer unknown methods. New ones may start slowly, but hardly this slowly. */
export const silentProbeMs = 10_000;

interface OpenOptions {
  discovery?: PriorDiscovery | undefined;
  /** Which era to negotiate, if it is not known. */
  mode?: VersionNegotiationMode;
  /** Of the handshake. Default: only the operation's deadline. */
  timeoutMs?: number;
}

export async function openConnection(
  target: Target,
  { discovery, mode = 'auto', timeoutMs = noTimeoutMs }: OpenOptions = {},
): Promise<OpenResult> {
  const { server, deadline, capabilities = cannotAsk } = target;
  const { transport, exchanges, begin, ...rest } = openTransport(target, canAsk(target));
  let { onMessage } = target;
  transport.onmessage = (message) => onMessage?.(message);
  const client = createClient(capabilities, mode, server.process !== undefined);
  // Requests over HTTP are aborted by the deadline's signal.
  const giveUp = () => void (transport instanceof StdioTransport && transport.close());
  deadline.signal.addEventListener('abort', giveUp);
  try {
    await client.connect(transport, { timeout: timeoutMs, ...(discovery && { prior: discovery }) });
  } catch {
    giveUp();
    await client.close();
    return { exchanges };
  } finally {
    deadline.signal.removeEventListener('abort', giveUp);
  }
  // Older servers may ask on the standing stream, and what they send before it is open is lost.
  if (canAsk(target)) await exchanges.listening();

  const toClient = transport.onmessage;
  const beginNext = (signal: AbortSignal, next: Pick<Operation, 'onMessage' | 'onSending'>) => {
    transport.onmessage = toClient;
    ({ onMessage } = next);
    begin(signal, next.onSending);
  };
  return {
    exchanges,
    connection: {
      ...rest,
      kind: 'connected',
      server,
      client,
      transport,
      exchanges,
      isEraCached: discovery !== undefined,
      beginOperation: (next) => beginNext(next.deadline.signal, next),
      idle: (heard) => beginNext(new AbortController().signal, { onMessage: heard }),
      close: () => void endSession(client, transport, exchanges),
      detach: () => client.close(),
    },
  };
}

export function canAsk({ capabilities = cannotAsk, makesNoCalls }: Target): boolean {
  return (capabilities.form || capabilities.url) && makesNoCalls !== true;
}

/** Older servers keep a session until it is deleted, and a running call until its cancellation arrives. */
async function endSession(
  client: Client,
  transport: OpenTransport['transport'],
  exchanges: ExchangeLog,
): Promise<void> {
  await sendBestEffort(
    setImmediate()
      .then(() => exchanges.settled())
      .then(() => transport.terminateSession()),
  );
  await client.close();
}

function createClient(capabilities: Capabilities, mode: VersionNegotiationMode, isProcess: boolean): Client {
  const client = new Client(
    { name: 'interlude', version: packageJson.version },
    {
      capabilities: toClientCapabilities(capabilities),
      versionNegotiation: { mode, ...(isProcess && { probe: { timeoutMs: silentProbeMs } }) },
      jsonSchemaValidator: acceptAnything,
    },
  );
  randomizeFirstId(client);
  return client;
}

/**
 * A round of a call must not reuse the id of an earlier one, and a resumed session has seen ids, too. The SDK counts from
 * zero in every client, and only this counter can change that.
 */
function randomizeFirstId(client: Client): void {
  // Small enough for a 32-bit integer.
  Object.assign(client, { _requestMessageId: randomInt(2 ** 30) });
}

/** Valid in every revision: before 2025-11-25 any `elicitation` member means forms. */
function toClientCapabilities({ form, url }: Capabilities): ClientCapabilities {
  if (!form && !url) return {};
  return { elicitation: { ...(form && { form: {} }), ...(url && { url: {} }) } };
}

/** Results are passed on unchanged, so they are not validated against the tool's output schema. */
const acceptAnything: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};
