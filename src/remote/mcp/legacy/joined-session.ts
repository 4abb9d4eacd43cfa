/**
 * A session of the old era, joined without a handshake, only by its id. Uses plain requests, because the SDK's transport
 * hides how the server answered each request, and where a stream ended.
 */
import { parseJSONRPCMessage } from '@modelcontextprotocol/client';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { ServerConfig } from '../../../platform/config/config.ts';
import type { Credential } from '../../../credentials/credential-store.ts';
import { outgoingTrace } from '../../../platform/telemetry/traces/requests.ts';
import { headersOf } from '../../request-account.ts';
import type { Session } from '@interlude-ai/core/mcp/input-required.ts';
import { createTrackedFetch } from '../open-transport.ts';
import type { Exchange } from '@interlude-ai/core/mcp/tracked-request.ts';
import { toDefaultResponse } from '@interlude-ai/core/mcp/legacy-messages.ts';

/** A limit for servers that do not wait for the answers. */
const maxDefaultResponses = 300;

/** Includes events without a message, which only carry an id. */
export interface StreamEvent {
  message?: JSONRPCMessage;
  eventId?: string;
}

export function joinSession(
  server: ServerConfig,
  credential: Credential,
  { sessionId, protocolVersion }: Session,
  signal: AbortSignal,
) {
  const tracked = createTrackedFetch(signal, { standingStream: true });
  let defaultResponses = 0;

  function headers(more: Record<string, string>): Headers {
    const all = headersOf(server, credential);
    const own = { 'mcp-session-id': sessionId, 'mcp-protocol-version': protocolVersion };
    for (const [name, value] of Object.entries({ ...own, ...outgoingTrace(server), ...more }))
      all.set(name, value);
    return all;
  }

  async function send(message: JSONRPCMessage): Promise<Exchange> {
    const response = tracked.fetch(server.url, {
      method: 'POST',
      headers: headers({
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      }),
      body: JSON.stringify(message),
    });
    const exchange = tracked.latest();
    await response.then((answered) => answered.body?.cancel()).catch(() => undefined);
    return exchange;
  }

  async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
    const events = body
      .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
      .pipeThrough(new EventSourceParserStream());
    try {
      for await (const { id, data } of events) {
        const message = readMessage(data);
        const response =
          message && 'method' in message && isOtherRequest(message) ? toDefaultResponse(message) : null;
        if (response && ++defaultResponses <= maxDefaultResponses) void send(response);
        yield { ...(message && { message }), ...(id !== undefined && { eventId: id }) };
      }
    } catch {
      // A broken or aborted stream ends for its reader.
    }
  }

  return {
    exchanges: tracked,
    /** Never rejects: the exchange says what went wrong. */
    send,
    /**
     * Reads the events after `lastEventId`; without it, those that belong to no request. `events` is absent if the server
     * refused; it ends with the stream, or when `signal` aborts.
     */
    async read(reading: AbortSignal, lastEventId?: string) {
      const response = tracked.fetch(server.url, {
        method: 'GET',
        headers: headers({
          accept: 'text/event-stream',
          ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
        }),
        signal: reading,
      });
      const exchange = tracked.latest();
      const answered = await response.catch(() => null);
      if (answered?.ok && exchange.isStream && answered.body)
        return { exchange, events: eventsOf(answered.body) };
      await answered?.body?.cancel();
      return { exchange };
    },
    /** Ends the session. Never rejects. */
    async end() {
      const response = tracked.fetch(server.url, { method: 'DELETE', headers: headers({}) });
      await response.then((answered) => answered.body?.cancel()).catch(() => undefined);
    },
  };
}

export type JoinedSession = ReturnType<typeof joinSession>;

/** Questions are handled by the reader of the stream; all other requests get a default response. */
function isOtherRequest(message: { method: string }): boolean {
  return message.method !== 'elicitation/create';
}

function readMessage(data: string): JSONRPCMessage | undefined {
  if (data === '') return undefined;
  try {
    return parseJSONRPCMessage(JSON.parse(data));
  } catch {
    return undefined;
  }
}
