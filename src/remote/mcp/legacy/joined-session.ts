/**
 * A session of the old era, joined by somebody who did not open it: no handshake, only its id. Made of plain requests,
 * because the SDK's transport hides what counts here: how the server took each of them, and where a stream ended.
 */
import { parseJSONRPCMessage } from '@modelcontextprotocol/client';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { ServerConfig } from '../../../config/config.ts';
import type { Credential } from '../../../credentials/store.ts';
import { headersOf } from '../../request-headers.ts';
import { toCourtesy } from './messages.ts';
import type { Session } from '../../input-required.ts';
import { openWire } from '../tracked-fetch.ts';
import type { Exchange, Wire } from '../tracked-fetch.ts';

/** A server that wants more does not wait for the answers. */
const mostCourtesies = 300;

/** What the server tells on a stream. Events without a message, which only carry an id, come too. */
export interface Told {
  message?: JSONRPCMessage;
  eventId?: string;
}

export interface JoinedSession {
  wire: Wire;
  /**
   * What came after `lastEventId`, or, without, whatever belongs to no request. `told` is there if the server agreed;
   * it ends with the stream, or when `signal` aborts.
   */
  read(
    signal: AbortSignal,
    lastEventId?: string,
  ): Promise<{ exchange: Exchange; told?: AsyncIterable<Told> }>;
  /** Resolves with how the server took it. Never rejects: the exchange says what went wrong. */
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
  const wire = openWire(signal, { standingStream: true });
  let courtesies = 0;

  function headers(more: Record<string, string>): Headers {
    const all = headersOf(server, credential);
    const own = { 'mcp-session-id': sessionId, 'mcp-protocol-version': protocolVersion };
    for (const [name, value] of Object.entries({ ...own, ...more })) all.set(name, value);
    return all;
  }

  async function send(message: JSONRPCMessage): Promise<Exchange> {
    const response = wire.fetch(server.url, {
      method: 'POST',
      headers: headers({
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      }),
      body: JSON.stringify(message),
    });
    const exchange = wire.latest();
    await response.then((answered) => answered.body?.cancel()).catch(() => undefined);
    return exchange;
  }

  async function* tell(body: ReadableStream<Uint8Array>): AsyncGenerator<Told> {
    const events = body
      .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
      .pipeThrough(new EventSourceParserStream());
    try {
      for await (const { id, data } of events) {
        const message = readMessage(data);
        const courtesy = message && 'method' in message && isOther(message) ? toCourtesy(message) : null;
        if (courtesy && ++courtesies <= mostCourtesies) void send(courtesy);
        yield { ...(message && { message }), ...(id !== undefined && { eventId: id }) };
      }
    } catch {
      // Broken off or given up: for whoever reads, it has ended.
    }
  }

  return {
    wire,
    send,
    async read(reading, lastEventId) {
      const response = wire.fetch(server.url, {
        method: 'GET',
        headers: headers({
          accept: 'text/event-stream',
          ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
        }),
        signal: reading,
      });
      const exchange = wire.latest();
      const answered = await response.catch(() => null);
      if (answered?.ok && exchange.isStream && answered.body) return { exchange, told: tell(answered.body) };
      await answered?.body?.cancel();
      return { exchange };
    },
    async end() {
      const response = wire.fetch(server.url, { method: 'DELETE', headers: headers({}) });
      await response.then((answered) => answered.body?.cancel()).catch(() => undefined);
    },
  };
}

/** Questions are for whoever reads; to anything else there is only one answer. */
function isOther(message: { method: string }): boolean {
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
