/** Sends a call, and waits until it is over, one way or another; what came is for the wire to say. */
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ServerToolCall } from './call.ts';
import { noTimeoutMs } from './connect.ts';
import type { Connection } from './connect.ts';
import type { Deadline } from '../deadline.ts';
import { retryParams } from './modern/input-required.ts';
import { StdioTransport } from './stdio/transport.ts';
import type { Talk, TalkEnd } from './legacy/server-requests.ts';
import type { Wire } from './tracked-fetch.ts';

/** Resolves when the call is over, or the server's talk has put an end to it. */
export async function sendCall(
  connection: Connection,
  call: ServerToolCall,
  deadline: Deadline,
  talk: Talk | null,
): Promise<TalkEnd | undefined> {
  const stopped = new AbortController();
  const sent = send(connection, call, { deadline, talk, stopped: stopped.signal });
  const end = await Promise.race(talk ? [talk.ended, sent] : [sent]);
  // A detached call goes on at its server: nothing is said to it.
  if (!end || end.kind === 'detached') return end ?? undefined;
  stopped.abort();
  await sent;
  return end;
}

/** Resolves when the call is over, one way or another. How it ended is read from the wire, not from the SDK's errors. */
async function send(
  { client, transport, wire }: Connection,
  call: ServerToolCall,
  { deadline, talk, stopped }: { deadline: Deadline; talk: Talk | null; stopped: AbortSignal },
): Promise<void> {
  const lost = new AbortController();
  // A process is its own stream: when it is gone, everybody hears of it.
  using _watch =
    transport instanceof StdioTransport
      ? undefined
      : watchStream(transport, wire, { seen: talk?.seen, lost: () => lost.abort() });
  const { name, arguments: input, inputSchema, callId, goOn } = call;
  const params = {
    name,
    arguments: input,
    ...(goOn?.resume.kind === 'retry' && retryParams(goOn.answers, goOn.resume.requestState)),
    _meta: { 'interlude/callId': callId, progressToken: callId },
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
    // A fault of ours before anything was sent must not pass for trouble of the server's.
    if (!wire.last('tools/call') && !deadline.end) throw error;
  });
}

/**
 * Until it is disposed of. The SDK waits for its timeout when a call's response ends without an answer. For streams its transport reports
 * the end, but only to callers of `send`; other responses have been read by the time `send` returns.
 */
function watchStream(
  transport: StreamableHTTPClientTransport,
  wire: Wire,
  { seen, lost }: { seen: ((eventId: string) => void) | undefined; lost: () => void },
): Disposable {
  const original = transport.send;
  transport.send = async (message, options) => {
    const isCall = !Array.isArray(message) && 'method' in message && message.method === 'tools/call';
    if (!isCall) return original.call(transport, message, options);
    const watched = { ...options, onRequestStreamEnd: lost, ...(seen && { onresumptiontoken: seen }) };
    await original.call(transport, message, watched);
    if (!wire.last('tools/call')?.isStream) lost();
  };
  return { [Symbol.dispose]: () => void (transport.send = original) };
}
