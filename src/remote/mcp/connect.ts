/**
 * A connection to an MCP server for one operation at a time: a client of its own, so that nothing of one person's call
 * can reach another's, and messages that a server sends along belong to this call without doubt.
 *
 * Nothing that goes wrong here can have run a tool: no call was sent yet.
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
} from '@modelcontextprotocol/client';
import packageJson from '../../../package.json' with { type: 'json' };
import { cannotAsk } from '../../elicitation/capabilities.ts';
import type { Capabilities } from '../../elicitation/capabilities.ts';
import { forgetEra, recallEra, rememberEra } from './era-cache.ts';
import { sayGoodbye } from '../best-effort.ts';
import { unsendableHeader } from '../request-headers.ts';
import { openTransport } from './open-transport.ts';
import type { Destination, Operation, OpenTransport } from './open-transport.ts';
import { ProcessTrouble } from './stdio/process.ts';
import type { ProcessReport } from './stdio/process.ts';
import { StdioTransport } from './stdio/transport.ts';
import { describeTrouble, nameOf } from './failure-message.ts';
import type { Wire } from './tracked-fetch.ts';

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

export interface Connection extends Omit<OpenTransport, 'begin'> {
  kind: 'connected';
  client: Client;
  /** The era was remembered and not asked for: the server may have changed since. */
  fromMemory: boolean;
  /** For another operation, after one that has come to its end: nothing of that one is left on it. */
  serve(next: Operation): void;
  /** Until it serves again. */
  rest(onMessage: (message: JSONRPCMessage) => void): void;
  /** Says goodbye to the server and frees everything, without making anybody wait. */
  close(): void;
  /** Goes without a word: the server keeps the session, and the call in it. */
  detach(): Promise<void>;
}

interface Target extends Destination {
  /** What the server may ask the user with; without them it may not ask. */
  capabilities?: Capabilities;
  /** Nothing is called, so nothing is asked, whatever the server is told. */
  isQuiet?: boolean;
}

export async function connect(target: Target): Promise<Connection | Refused | Unreachable> {
  const unsendable = unsendableHeader(target.server, target.credential);
  if (unsendable !== undefined) {
    const remedy = 'The operator should check headers and headersEnv in the agents file.';
    const message = `${nameOf(target.server)} was not called: the value of its header "${unsendable}" cannot be sent. ${remedy}`;
    return { kind: 'unreachable', message };
  }
  const { server } = target;
  // Only servers of the old era have sessions.
  const known = target.session ? undefined : recallEra(server);
  const probe = holdReport(target);
  const { connection, wire } = await attempt({ ...target, onReport: probe.onReport }, known);
  const isOver = connection !== undefined || target.deadline.end !== undefined;
  const diedOfIt = !isOver && !known && server.process !== undefined && diedOfProbe(wire);
  if (!diedOfIt) probe.release();
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
    if (diedOfIt) {
      const old = await attempt(target, { kind: 'legacy' });
      if (old.connection) rememberEra(server, { kind: 'legacy' });
      probe.release(old.connection !== undefined);
      return old.connection ?? troubleOf(target, old.wire);
    }
  }
  return troubleOf(target, wire);
}

/** Whether an answer can mean that the server now speaks another era than the remembered one. */
export function mayHaveChanged(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status);
}

/** Whether the end of a process was a failure shows when it was greeted in another way. */
function holdReport({ onReport }: Target) {
  let held: ProcessReport | undefined;
  let isExcused: boolean | undefined;
  const pass = () => {
    if (held && isExcused !== undefined) onReport?.({ ...held, isFailure: held.isFailure && !isExcused });
  };
  return {
    onReport(report: ProcessReport) {
      held = report;
      pass();
    },
    release(excused = false) {
      isExcused = excused;
      pass();
    },
  };
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
  const { server, deadline, capabilities = cannotAsk } = target;
  const canAsk = (capabilities.form || capabilities.url) && target.isQuiet !== true;
  const { transport, wire, begin, ...line } = openTransport(target, canAsk);
  let { onMessage } = target;
  transport.onmessage = (message) => onMessage?.(message);
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
  const toSdk = transport.onmessage;
  return {
    wire,
    connection: {
      ...line,
      kind: 'connected',
      client,
      transport,
      wire,
      fromMemory,
      serve: (next) => turnTo(next.deadline.signal, next),
      rest: (heard) => turnTo(new AbortController().signal, { onMessage: heard }),
      close: () => void leave(),
      detach: () => client.close(),
    },
  };

  function turnTo(signal: AbortSignal, next: Pick<Operation, 'onMessage' | 'onLeft'>): void {
    transport.onmessage = toSdk;
    ({ onMessage } = next);
    begin(signal, next.onLeft);
  }

  /** Older servers keep a session until told otherwise, and a running call until its cancellation arrives. */
  async function leave(): Promise<void> {
    await sayGoodbye(
      setImmediate()
        .then(() => wire.settled())
        .then(() => transport.terminateSession()),
    );
    await client.close();
  }
}

/**
 * A round of a call must not carry the id of an earlier one, nor a resumed session the ids it has seen. The SDK counts
 * from zero in every client, and its counter is the only way to tell it otherwise.
 */
function countFromAnywhere(client: Client): void {
  // Not beyond what servers in other languages read as an integer.
  Object.assign(client, { _requestMessageId: randomInt(2 ** 30) });
}

/** As every revision reads it: before 2025-11-25 the presence of `elicitation` means forms, whatever is in it. */
function toClientCapabilities({ form, url }: Capabilities): ClientCapabilities {
  if (!form && !url) return {};
  return { elicitation: { ...(form && { form: {} }), ...(url && { url: {} }) } };
}

/** The SDK's own clock is kept out of the way: the deadline of the operation is the only one. */
export const noTimeoutMs = 2 ** 31 - 1;
/** Old servers need not answer what they do not know. New ones may take their time to start, but hardly as long. */
const silentProbeMs = 10_000;

const acceptAnything: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};
