/**
 * A connection to an MCP server for one operation at a time: a client of its own, so that nothing of one person's call
 * can reach another's, and messages that a server sends along belong to this call without doubt.
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
import type { ServerConfig } from '../../config/config.ts';
import { cannotAsk } from '../../elicitation/capabilities.ts';
import type { Capabilities } from '../../elicitation/capabilities.ts';
import { sendBestEffort } from '../best-effort.ts';
import type { ExchangeLog } from './exchange.ts';
import { openTransport } from './open-transport.ts';
import type { Destination, OpenTransport, Operation } from './open-transport.ts';
import type { Era, ServerEras } from './server-eras.ts';
import { StdioTransport } from './stdio/transport.ts';

export interface Connection extends Omit<OpenTransport, 'begin'> {
  kind: 'connected';
  server: ServerConfig;
  client: Client;
  /** The era was not asked for: the server may have changed since. */
  isEraCached: boolean;
  /** Serves another operation, after one that has come to its end. */
  beginOperation(next: Operation): void;
  /** Serves no operation until the next begins. */
  idle(onMessage: (message: JSONRPCMessage) => void): void;
  /** Ends the session at the server and frees everything, without making anybody wait. */
  close(): void;
  /** Frees everything here; the server keeps the session, and the call in it. */
  detach(): Promise<void>;
}

export interface Target extends Destination {
  eras: ServerEras;
  /** Of a call. */
  tool?: string;
  /** Without it, the one in which the server can ask. */
  era?: Era | undefined;
  /** What the server may ask the user with; without them it may not ask. */
  capabilities?: Capabilities;
  /** Nothing is called, so nothing is asked, whatever the server is told. */
  makesNoCalls?: boolean;
}

/** Without a connection, the exchanges say why. */
export interface OpenResult {
  exchanges: ExchangeLog;
  connection?: Connection;
}

/** The SDK's own clock is kept out of the way: the deadline of the operation is the only one. */
export const noTimeoutMs = 2 ** 31 - 1;
/** Old servers need not answer what they do not know. New ones may take their time to start, but hardly as long. */
export const silentProbeMs = 10_000;

interface OpenOptions {
  /** The server's era, if it need not be asked for. */
  discovery?: PriorDiscovery | undefined;
  /** Otherwise: which era to ask for. */
  mode?: VersionNegotiationMode;
  /** For the handshake; the operation's own by default. */
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
  // Requests over HTTP end with the deadline by themselves.
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
  // Older servers may ask there, and what they say before anybody listens is lost.
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

/** Older servers keep a session until told otherwise, and a running call until its cancellation arrives. */
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
 * A round of a call must not carry the id of an earlier one, nor a resumed session the ids it has seen. The SDK counts
 * from zero in every client, and its counter is the only way to tell it otherwise.
 */
function randomizeFirstId(client: Client): void {
  // Not beyond what servers in other languages read as an integer.
  Object.assign(client, { _requestMessageId: randomInt(2 ** 30) });
}

/** As every revision reads it: before 2025-11-25 the presence of `elicitation` means forms, whatever is in it. */
function toClientCapabilities({ form, url }: Capabilities): ClientCapabilities {
  if (!form && !url) return {};
  return { elicitation: { ...(form && { form: {} }), ...(url && { url: {} }) } };
}

/** What a tool answers is passed on as it came: judging it against the server's own schema is not ours to do. */
const acceptAnything: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};
