/**
 * A session of the old era, joined by a process that did not open it: no handshake, only its id. Made of plain requests,
 * because the SDK's transport hides what counts here: how the server answered each of them, and where a stream ended.
 */
import { parseJSONRPCMessage } from '@modelcontextprotocol/client';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { ServerConfig } from '../../../config/config.ts';
import type { Credential } from '../../../credentials/store.ts';
import { outgoingTrace } from '../../../telemetry/traces/outgoing.ts';
import { headersOf } from '../../request-headers.ts';
import type { Session } from '../../input-required.ts';
import type { Exchange, ExchangeLog } from '../exchange.ts';
import { createTrackedFetch } from '../tracked-fetch.ts';
import { toDefaultResponse } from './messages.ts';

/** A server that wants more does not wait for the answers. */
const maxDefaultResponses = 300;

/** An event of a stream of the server's. Events without a message, which only carry an id, come too. */
export interface StreamEvent {
  message?: JSONRPCMessage;
  eventId?: string;
}

export interface JoinedSession {
  exchanges: ExchangeLog;
  /**
   * What came after `lastEventId`, or, without, whatever belongs to no request. `events` is there if the server agreed;
   * it ends with the stream, or when `signal` aborts.
   */
  read(
    signal: AbortSignal,
    lastEventId?: string,
  ): Promise<{ exchange: Exchange; events?: AsyncIterable<StreamEvent> }>;
  /** Resolves with how the server answered it. Never rejects: the exchange says what went wrong. */
  send(message: JSONRPCMessage): Promise<Exchange>;
  /** Ends the session, if the server is there to hear it. */
  end(): Promise<void>;
}

export function joinSession(
  server: ServerConfig,
  credential: Credential,
  { sessionId, protocolVersion }: Session,
  signal: AbortSignal,
): JoinedSession {
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
      // Broken or aborted: for whoever reads, the stream has ended.
    }
  }

  return {
    exchanges: tracked,
    send,
    async read(reading, lastEventId) {
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
    async end() {
      const response = tracked.fetch(server.url, { method: 'DELETE', headers: headers({}) });
      await response.then((answered) => answered.body?.cancel()).catch(() => undefined);
    },
  };
}

/** Questions are for whoever reads the stream; anything else gets a default response. */
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
