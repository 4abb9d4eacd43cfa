/** Calls one tool of an MCP server, once. */
import type { JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../config.ts';
import type { Credential } from '../credentials/store.ts';
import { connect, mayHaveChanged, noTimeoutMs } from './connect.ts';
import type { Connection } from './connect.ts';
import { startDeadline } from './deadline.ts';
import type { Deadline } from './deadline.ts';
import { forgetEra } from './eras.ts';
import { judge } from './verdict.ts';
import type { CallOutcome, Sighting } from './verdict.ts';
import type { Wire } from './wire.ts';

export type { CallOutcome } from './verdict.ts';

export interface ServerToolCall {
  name: string;
  arguments: Record<string, unknown>;
  /** Sent along as `_meta["interlude/callId"]`, so that a server can recognise a repeated call. */
  callId: string;
  signal: AbortSignal;
}

/**
 * Never rejects for anything the server or the network does: every end is an outcome. The request is sent at most
 * once, except where the server turned down the first one for speaking another protocol version.
 */
export async function callServerTool(
  server: ServerConfig,
  credential: Credential,
  call: ServerToolCall,
): Promise<CallOutcome> {
  using deadline = startDeadline(server.timeout, call.signal);
  const first = await attempt(server, credential, call, deadline);
  if (!first.eraIsStale) return first.outcome;
  forgetEra(server.url);
  return (await attempt(server, credential, call, deadline)).outcome;
}

interface Attempt {
  outcome: CallOutcome;
  eraIsStale: boolean;
}

async function attempt(
  server: ServerConfig,
  credential: Credential,
  call: ServerToolCall,
  deadline: Deadline,
): Promise<Attempt> {
  const inbox: JSONRPCMessage[] = [];
  const onMessage = (message: JSONRPCMessage) => void inbox.push(message);
  const connection = await connect({ server, credential, deadline, onMessage });
  if (connection.kind !== 'connected') return { outcome: connection, eraIsStale: false };
  try {
    await send(connection, call, deadline);
  } finally {
    connection.close();
  }
  const exchange = connection.wire.last('tools/call');
  const sighting: Sighting = {
    exchange,
    answer: inbox.find(
      (message) => isAnswer(message) && exchange !== undefined && message.id === exchange.id,
    ),
    asked: inbox.some((message) => 'method' in message && 'id' in message && message.method !== 'ping'),
    end: deadline.end,
  };
  const outcome = judge(server, sighting);
  return {
    outcome,
    eraIsStale: connection.fromMemory && !deadline.end && speaksAnotherEra(outcome, sighting),
  };
}

const unsupportedVersion = -32022;

/** Only where the call was certainly not executed, so that it can be made again. */
function speaksAnotherEra({ kind }: CallOutcome, { exchange, answer }: Sighting): boolean {
  if (kind !== 'rejected' && kind !== 'unreachable') return false;
  if (answer) return 'error' in answer && answer.error.code === unsupportedVersion;
  return mayHaveChanged(exchange?.status);
}

/** Resolves when the call is over, one way or another. How it ended is read from the wire, not from the SDK's errors. */
async function send(
  { client, transport, wire }: Connection,
  call: ServerToolCall,
  deadline: Deadline,
): Promise<void> {
  const lost = new AbortController();
  reportLostAnswer(transport, wire, () => lost.abort());
  const { name, arguments: input, callId } = call;
  const params = {
    name,
    arguments: input,
    _meta: { 'interlude/callId': callId },
  };
  const options = {
    signal: AbortSignal.any([deadline.signal, lost.signal]),
    timeout: noTimeoutMs,
    allowInputRequired: true as const,
  };
  await client.callTool(params, options).catch((error: unknown) => {
    // A fault of ours before anything was sent must not pass for trouble of the server's.
    if (!wire.last('tools/call') && !deadline.end) throw error;
  });
}

/**
 * The SDK waits for its timeout when a call's response ends without an answer. For streams its transport reports
 * the end, but only to callers of `send`; other responses have been read by the time `send` returns.
 */
function reportLostAnswer(transport: StreamableHTTPClientTransport, wire: Wire, onLost: () => void): void {
  const original = transport.send.bind(transport);
  transport.send = async (message, options) => {
    const isCall = !Array.isArray(message) && 'method' in message && message.method === 'tools/call';
    if (!isCall) return original(message, options);
    await original(message, { ...options, onRequestStreamEnd: onLost });
    if (!wire.last('tools/call')?.isStream) onLost();
  };
}

function isAnswer(
  message: JSONRPCMessage,
): message is Extract<JSONRPCMessage, { result: unknown } | { error: unknown }> {
  return 'result' in message || 'error' in message;
}
