/**
 * Reads an event stream over as many connections as it takes, with exponential backoff. The end of a response does not mean
 * that the stream is complete: only its reader knows. An event without its closing blank line was cut off, and does not
 * count.
 */
import { createParser } from 'eventsource-parser';
import { parseObject, unexpectedResponse } from './interlude-error.ts';
import { pause, retryDelayMs } from './retry.ts';
import type { Timing } from './retry.ts';
import { ConnectionLost } from './send.ts';

export type ConnectionStatus = 'reconnecting' | 'connected';

export interface ReadOptions {
  /** Stops reading, not the turn. */
  signal?: AbortSignal;
  /** Called with `reconnecting` once per interruption, and with `connected` when it is over. */
  onStatus?: (status: ConnectionStatus) => void;
}

export interface Reconnect extends ReadOptions {
  timing: Timing;
  connect: (signal: AbortSignal) => Promise<Response>;
}

interface Progress {
  /** Bytes arrived, so the connection is not silent. */
  alive(): void;
  /** Something new arrived, so the backoff of the next interruption starts over. */
  advanced(): void;
}

/** Yields what `read` yields from each stream, until `read` returns `over`. */
export async function* reconnecting<T>(
  { timing, connect, signal, onStatus }: Reconnect,
  read: (response: Response, progress: Progress) => AsyncGenerator<T, 'over' | 'cut'>,
): AsyncGenerator<T, void> {
  let attempt = 0;
  let isLost = false;
  const advanced = () => void (attempt = 0);

  for (;;) {
    signal?.throwIfAborted();
    const openedAt = Date.now();
    let retryAfterMs = 0;
    const watch = watchSilence(timing.silenceMs, signal);
    try {
      const response = await connect(watch.signal);
      if (isLost) onStatus?.('connected');
      isLost = false;
      if ((yield* read(response, { alive: watch.alive, advanced })) === 'over') return;
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ConnectionLost)) throw error;
      ({ retryAfterMs } = error);
    } finally {
      watch.stop();
    }
    if (!isLost) onStatus?.('reconnecting');
    isLost = true;
    // A connection that lasted this long was healthy, even if nothing new arrived.
    if (Date.now() - openedAt > timing.lastRetryMs) attempt = 0;
    await pause(Math.max(retryAfterMs, retryDelayMs(attempt, timing)), signal);
    attempt += 1;
  }
}

/** The body of an event stream. Any other response is not from Interlude. */
export function streamOf(response: Response): ReadableStream<Uint8Array<ArrayBuffer>> {
  const isEventStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (!response.body || !isEventStream) throw unexpectedResponse(response);
  return response.body;
}

/** Aborts a connection on which nothing arrives any more, which no error reports. */
function watchSilence(silenceMs: number, reader: AbortSignal | undefined) {
  const controller = new AbortController();
  const begin = () => setTimeout(() => controller.abort(new Error('The connection fell silent.')), silenceMs);
  let timer = begin();
  return {
    /** Aborts after silence, or when the reader stops. */
    signal: reader ? AbortSignal.any([reader, controller.signal]) : controller.signal,
    alive() {
      clearTimeout(timer);
      timer = begin();
    },
    /** Stops the timer and aborts the signal. */
    stop() {
      clearTimeout(timer);
      controller.abort();
    },
  };
}

/** Not validated: unknown types and members pass. */
export type Chunk = Record<string, unknown>;

/** May consist of only an id, which is a position. */
interface Message {
  id?: string | undefined;
  data?: string;
}

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/**
 * The chunks of a UI message stream (https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol). `onBytes` is also called for
 * comments.
 */
export async function* readChunks(body: Body, onBytes: () => void): AsyncGenerator<Chunk> {
  for await (const { data } of readMessages(body, onBytes)) {
    if (data !== undefined) yield data === '[DONE]' ? { type: 'finish' } : parseObject(data);
  }
}

export async function* readMessages(body: Body, onBytes: () => void): AsyncGenerator<Message> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const messages: Message[] = [];
  const parser = createParser({
    onId: (id) => void messages.push({ id }),
    onEvent({ id, data }) {
      // Replaces the entry that `onId` has just pushed.
      if (id !== undefined) messages.pop();
      messages.push({ id, data });
    },
  });
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(lost);
      if (done) return;
      onBytes();
      parser.feed(decoder.decode(value, { stream: true }));
      yield* messages.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function lost(cause: unknown): never {
  throw new ConnectionLost('The stream broke.', { cause });
}
