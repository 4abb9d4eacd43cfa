/** Calls one tool of an MCP server: one round of a call, from a request to its answer. */
import type { JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../config.ts';
import type { Credential } from '../credentials/store.ts';
import { cannotAsk } from '../elicitation/capabilities.ts';
import type { Capabilities } from '../elicitation/capabilities.ts';
import { connect, mayHaveChanged, noTimeoutMs } from './connect.ts';
import type { Connection } from './connect.ts';
import { startDeadline } from './deadline.ts';
import type { Deadline } from './deadline.ts';
import { forgetEra } from './eras.ts';
import { retryParams } from './input-required.ts';
import { listServerTools } from './list.ts';
import type { QuestionAnswer, Resume } from './pause.ts';
import { judge } from './verdict.ts';
import type { CallOutcome, Sighting } from './verdict.ts';
import type { Wire } from './wire.ts';

export type { CallOutcome } from './verdict.ts';

export interface ServerToolCall {
  name: string;
  arguments: Record<string, unknown>;
  /** The tool's, as its server listed it: arguments that are marked there go out as headers too. */
  inputSchema?: Record<string, unknown>;
  /** Sent along as `_meta["interlude/callId"]`, so that a server can recognise a repeated call. */
  callId: string;
  /** What the server may ask the user with; without them it may not ask. */
  capabilities?: Capabilities;
  /** A later round: what was answered, and how the call goes on. */
  goOn?: { resume: Resume; answers: QuestionAnswer[] };
  signal: AbortSignal;
}

/**
 * Never rejects for anything the server or the network does: every end is an outcome. The request is sent at most
 * once, except where the server turned down the first one for speaking another protocol version, or for lacking
 * headers that its tool asks for by now.
 */
export async function callServerTool(
  server: ServerConfig,
  credential: Credential,
  call: ServerToolCall,
): Promise<CallOutcome> {
  using deadline = startDeadline(server.timeout, call.signal);
  const first = await attempt(server, credential, call, deadline);
  switch (first.stale) {
    case 'era':
      forgetEra(server.url);
      return (await attempt(server, credential, call, deadline)).outcome;
    case 'schema': {
      const listed = await listServerTools(server, credential, deadline.signal);
      const tool = listed.kind === 'tools' && listed.tools.find(({ name }) => name === call.name);
      if (!tool) return first.outcome;
      const { inputSchema } = tool;
      return (await attempt(server, credential, { ...call, inputSchema }, deadline)).outcome;
    }
    default:
      return first.outcome;
  }
}

interface Attempt {
  outcome: CallOutcome;
  /** What was remembered of the server and made it turn the call down. */
  stale?: 'era' | 'schema';
}

async function attempt(
  server: ServerConfig,
  credential: Credential,
  call: ServerToolCall,
  deadline: Deadline,
): Promise<Attempt> {
  const inbox: JSONRPCMessage[] = [];
  const onMessage = (message: JSONRPCMessage) => void inbox.push(message);
  const { capabilities = cannotAsk } = call;
  const connection = await connect({ server, credential, deadline, capabilities, onMessage });
  if (connection.kind !== 'connected') return { outcome: connection };
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
    end: deadline.end,
  };
  const outcome = judge(server, sighting, capabilities);
  if (deadline.end) return { outcome };
  if (connection.fromMemory && speaksAnotherEra(outcome, sighting)) return { outcome, stale: 'era' };
  const isModern = connection.client.getProtocolEra() === 'modern';
  return isModern && lacksHeaders(sighting) ? { outcome, stale: 'schema' } : { outcome };
}

const unsupportedVersion = -32022;
const headerMismatch = -32020;

/** Older servers may mean anything by this code. */
function lacksHeaders({ answer }: Sighting): boolean {
  return answer !== undefined && 'error' in answer && answer.error.code === headerMismatch;
}

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
  const { name, arguments: input, inputSchema, callId, goOn } = call;
  const params = {
    name,
    arguments: input,
    ...(goOn?.resume.kind === 'retry' && retryParams(goOn.answers, goOn.resume.requestState)),
    _meta: { 'interlude/callId': callId },
  };
  const options = {
    signal: AbortSignal.any([deadline.signal, lost.signal]),
    timeout: noTimeoutMs,
    allowInputRequired: true as const,
    ...(inputSchema && {
      toolDefinition: { name, inputSchema: { ...inputSchema, type: 'object' as const } },
    }),
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
