/**
 * A connection to an MCP server for exactly one operation: a fresh client, so that nothing of one person's call
 * can reach another's, and messages that a server sends along belong to this call without doubt.
 *
 * Nothing that goes wrong here can have run a tool: no call was sent yet.
 */
import { randomInt } from 'node:crypto';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type {
  ClientCapabilities,
  JSONRPCMessage,
  JsonSchemaValidator,
  jsonSchemaValidator,
  PriorDiscovery,
} from '@modelcontextprotocol/client';
import packageJson from '../../package.json' with { type: 'json' };
import type { ServerConfig } from '../config.ts';
import type { Credential } from '../credentials/store.ts';
import { cannotAsk } from '../elicitation/capabilities.ts';
import type { Capabilities } from '../elicitation/capabilities.ts';
import type { Deadline } from './deadline.ts';
import { forgetEra, recallEra, rememberEra } from './eras.ts';
import type { Session } from './pause.ts';
import { ProcessTrouble } from './stdio-process.ts';
import type { ProcessReport } from './stdio-process.ts';
import { StdioTransport } from './stdio-transport.ts';
import { describeTrouble, nameOf } from './trouble.ts';
import { openWire } from './wire.ts';
import type { Exchange, Wire } from './wire.ts';

/** The server wants another credential. `challenge` is its `WWW-Authenticate` header. */
export interface Refused {
  kind: 'refused';
  status: 401 | 403;
  challenge: string | null;
}

/** `message` names the server and the remedy; it is safe to log and to show. */
export interface Unreachable {
  kind: 'unreachable';
  message: string;
}

export type McpTransport = StreamableHTTPClientTransport | StdioTransport;

export interface Connection {
  kind: 'connected';
  client: Client;
  transport: McpTransport;
  wire: Wire;
  /** The era was remembered and not asked for: the server may have changed since. */
  fromMemory: boolean;
  /** Says goodbye to the server and frees everything, without making anybody wait. */
  close(): void;
  /** From now on with another credential. */
  renew(credential: Credential): void;
  /** Goes without a word: the server keeps the session, and the call in it. */
  detach(): Promise<void>;
}

interface Target {
  server: ServerConfig;
  credential: Credential;
  deadline: Deadline;
  /** What the server may ask the user with; without them it may not ask. */
  capabilities?: Capabilities;
  /** Nothing is called, so nothing is asked, whatever the server is told. */
  isQuiet?: boolean;
  /** Sees every message of the server before the SDK interprets it. */
  onMessage?: (message: JSONRPCMessage) => void;
  /** To be joined instead of a handshake: whether it is still there shows with the first request. */
  session?: Session | undefined;
  /** For a process: what is to be said of it when it has ended. */
  onReport?: ((report: ProcessReport) => void) | undefined;
  /** Hears of each message of ours that is on its way. */
  onLeft?: ((exchange: Exchange) => void) | undefined;
}

export async function connect(target: Target): Promise<Connection | Refused | Unreachable> {
  const unsendable = unsendableHeader(target);
  if (unsendable !== undefined) {
    const remedy = 'The operator should check headers and headersEnv in the agents file.';
    const message = `${nameOf(target.server)} was not called: the value of its header "${unsendable}" cannot be sent. ${remedy}`;
    return { kind: 'unreachable', message };
  }
  const { server } = target;
  // Only servers of the old era have sessions.
  const known = target.session ? undefined : recallEra(server);
  const { connection, wire } = await attempt(target, known);
  if (connection) return connection;

  const status = wire.last()?.status;
  if (!target.deadline.end) {
    // The server no longer speaks what it spoke, or it fails on a probe it does not know, as some old servers do.
    if (known && mayHaveChanged(status)) {
      forgetEra(server);
      return connect(target);
    }
    if (!known && status !== undefined && status >= 500 && wire.last()?.method === 'server/discover') {
      const old = await attempt(target, { kind: 'legacy' });
      if (old.connection) return old.connection;
      return troubleOf(target, old.wire);
    }
    // Some old servers end when they are asked something before they were greeted.
    if (!known && server.process && diedOfProbe(wire)) {
      const old = await attempt(target, { kind: 'legacy' });
      if (old.connection) rememberEra(server, { kind: 'legacy' });
      return old.connection ?? troubleOf(target, old.wire);
    }
  }
  return troubleOf(target, wire);
}

/** Whether an answer can mean that the server now speaks another era than the remembered one. */
export function mayHaveChanged(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status);
}

function diedOfProbe(wire: Wire): boolean {
  const last = wire.last();
  return last?.method === 'server/discover' && last.failure instanceof ProcessTrouble;
}

export function troubleOf({ server, deadline }: Target, wire: Wire): Refused | Unreachable {
  const exchange = wire.last();
  if ((exchange?.status === 401 || exchange?.status === 403) && !deadline.end) {
    return { kind: 'refused', status: exchange.status, challenge: exchange.challenge };
  }
  return { kind: 'unreachable', message: describeTrouble(server, exchange, deadline.end) };
}

interface Attempt {
  wire: Wire;
  connection?: Connection;
}

async function attempt(target: Target, prior: PriorDiscovery | undefined): Promise<Attempt> {
  const { server, deadline, capabilities = cannotAsk, onMessage } = target;
  const canAsk = (capabilities.form || capabilities.url) && target.isQuiet !== true;
  const { transport, wire, renew } = openTransport(target, canAsk);
  if (onMessage) transport.onmessage = onMessage;
  const client = new Client(
    { name: 'interlude', version: packageJson.version },
    // What a tool answers is passed on as it came: judging it against the server's own schema is not ours to do.
    {
      capabilities: toClientCapabilities(capabilities),
      versionNegotiation: { mode: 'auto', ...(server.process && { probe: { timeoutMs: silentProbeMs } }) },
      jsonSchemaValidator: acceptAnything,
    },
  );
  countFromAnywhere(client);
  // Requests over HTTP end with the deadline by themselves.
  const giveUp = () => void (transport instanceof StdioTransport && transport.close());
  deadline.signal.addEventListener('abort', giveUp);
  try {
    await client.connect(transport, { timeout: noTimeoutMs, ...(prior && { prior }) });
  } catch {
    giveUp();
    await client.close();
    return { wire };
  } finally {
    deadline.signal.removeEventListener('abort', giveUp);
  }
  // Older servers may ask there, and what they say before anybody listens is lost.
  if (canAsk) await wire.listening();
  const discover = client.getDiscoverResult();
  if (!prior) rememberEra(server, discover ? { kind: 'modern', discover } : { kind: 'legacy' });
  const fromMemory = prior !== undefined;
  return {
    wire,
    connection: {
      kind: 'connected',
      client,
      transport,
      wire,
      fromMemory,
      close: () => void leave(),
      renew,
      detach: () => client.close(),
    },
  };

  /** Older servers keep a session until told otherwise, and a running call until its cancellation arrives. */
  async function leave(): Promise<void> {
    await setImmediate();
    const goodbye = wire.settled().then(() => transport.terminateSession());
    await Promise.race([goodbye.catch(() => {}), sleep(goodbyeMs, undefined, { ref: false })]);
    await client.close();
  }
}

type Opened = Pick<Connection, 'transport' | 'wire' | 'renew'>;

function openTransport(target: Target, canAsk: boolean): Opened {
  const { server, credential, deadline, session, onReport, onLeft } = target;
  if (server.process) {
    const transport = new StdioTransport(server.process, { onReport, onLeft });
    // A process has no account of anybody's.
    return { transport, wire: transport.wire, renew: () => undefined };
  }
  const wire = openWire(deadline.signal, { standingStream: canAsk, onLeft });
  // Read anew for every request.
  const headers = headersOf(server, credential);
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    fetch: wire.fetch,
    requestInit: { headers },
    ...session,
  });
  const renew = (next: Credential) => {
    for (const [name, value] of headersOf(server, next)) headers.set(name, value);
  };
  return { transport, wire, renew };
}

/**
 * A round of a call must not carry the id of an earlier one, nor a resumed session the ids it has seen. The SDK counts
 * from zero in every client, and its counter is the only way to tell it otherwise.
 */
function countFromAnywhere(client: Client): void {
  // Not beyond what servers in other languages read as an integer.
  Object.assign(client, { _requestMessageId: randomInt(2 ** 30) });
}

/** Looked for first: the error of whoever stumbles over such a value repeats it, and it may be a secret. */
function unsendableHeader({ server, credential }: Target): string | undefined {
  const all = [...Object.entries(server.headers), ...Object.entries(credential.headers)];
  return all.find(([name, value]) => {
    try {
      new Headers([[name, value]]);
      return false;
    } catch {
      return true;
    }
  })?.[0];
}

/** As every revision reads it: before 2025-11-25 the presence of `elicitation` means forms, whatever is in it. */
function toClientCapabilities({ form, url }: Capabilities): ClientCapabilities {
  if (!form && !url) return {};
  return { elicitation: { ...(form && { form: {} }), ...(url && { url: {} }) } };
}

/** By name and not by spelling: `Authorization` of the one replaces `authorization` of the other. */
export function headersOf(server: ServerConfig, credential: Credential): Headers {
  const headers = new Headers(server.headers);
  for (const [name, value] of Object.entries(credential.headers)) headers.set(name, value);
  return headers;
}

/** The SDK's own clock is kept out of the way: the deadline of the operation is the only one. */
export const noTimeoutMs = 2 ** 31 - 1;
const goodbyeMs = 2_000;
/** Old servers need not answer what they do not know. New ones may take their time to start, but hardly as long. */
const silentProbeMs = 10_000;

const acceptAnything: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};
