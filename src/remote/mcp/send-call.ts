/** Sends a call, and waits until it is over. How it ended is read from the exchanges, not from the SDK's errors. */
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Deadline } from '../deadline.ts';
import { noteMcpRequest, outgoingTrace } from '../../telemetry/traces/outgoing.ts';
import { hopsKey } from '../../turn/hops.ts';
import type { ToolCall } from '../tool-call.ts';
import { noTimeoutMs } from './connection.ts';
import type { Connection } from './connection.ts';
import type { ExchangeLog } from './exchange.ts';
import type { EarlyEnd, ServerRequests } from './legacy/server-requests.ts';
import { retryParams } from './modern/input-required.ts';
import { StdioTransport } from './stdio/transport.ts';

/** Resolves when the call is over: with the reason when a request of the server's has ended it early. */
export async function sendCall(
  connection: Connection,
  call: ToolCall,
  deadline: Deadline,
  requests: ServerRequests | null,
): Promise<EarlyEnd | undefined> {
  const stopped = new AbortController();
  const sent = send(connection, call, { deadline, requests, stopped: stopped.signal });
  const end = await Promise.race(requests ? [requests.endedEarly, sent] : [sent]);
  // A detached call goes on at its server: nothing is said to it.
  if (!end || end.kind === 'detached') return end ?? undefined;
  stopped.abort();
  await sent;
  return end;
}

interface Sending {
  deadline: Deadline;
  requests: ServerRequests | null;
  stopped: AbortSignal;
}

async function send(
  { client, transport, exchanges, server }: Connection,
  call: ToolCall,
  { deadline, requests, stopped }: Sending,
): Promise<void> {
  const lost = new AbortController();
  // A process is its own stream: its transport closes with it.
  using _watch =
    transport instanceof StdioTransport
      ? undefined
      : watchStream(transport, exchanges, { onEventId: requests?.onEventId, onLost: () => lost.abort() });
  const { name, arguments: input, inputSchema, callId, hops, continuation } = call;
  noteMcpRequest('tools/call', client.getNegotiatedProtocolVersion());
  const params = {
    name,
    arguments: input,
    ...(continuation?.resume.kind === 'retry' &&
      retryParams(continuation.answers, continuation.resume.requestState)),
    _meta: {
      'interlude/callId': callId,
      progressToken: callId,
      ...(hops !== undefined && { [hopsKey]: hops }),
      ...outgoingTrace(server),
    },
  };
  const options = {
    signal: AbortSignal.any([deadline.signal, stopped, lost.signal]),
    timeout: noTimeoutMs,
    allowInputRequired: true as const,
    ...(inputSchema && {
      toolDefinition: { name, inputSchema: { ...inputSchema, type: 'object' as const } },
    }),
  };
  await client.callTool(params, options).catch((error: unknown) => {
    // A fault of ours before anything was sent must not pass for a failure of the server's.
    if (!exchanges.last('tools/call') && !deadline.end) throw error;
  });
}

/**
 * Until it is disposed of. The SDK waits for its timeout when a call's response ends without an answer. For streams its
 * transport reports the end, but only to callers of `send`; other responses have been read by the time `send` returns.
 */
function watchStream(
  transport: StreamableHTTPClientTransport,
  exchanges: ExchangeLog,
  { onEventId, onLost }: { onEventId: ((eventId: string) => void) | undefined; onLost: () => void },
): Disposable {
  const original = transport.send;
  transport.send = async (message, options) => {
    const isCall = !Array.isArray(message) && 'method' in message && message.method === 'tools/call';
    if (!isCall) return original.call(transport, message, options);
    await original.call(transport, message, {
      ...options,
      onRequestStreamEnd: onLost,
      ...(onEventId && { onresumptiontoken: onEventId }),
    });
    if (!exchanges.last('tools/call')?.isStream) onLost();
  };
  return { [Symbol.dispose]: () => void (transport.send = original) };
}
