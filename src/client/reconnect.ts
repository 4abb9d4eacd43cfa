/**
 * Reads an event stream over as many connections as it takes, with exponential backoff between them. That a response has
 * ended does not say that the stream is complete: only its reader knows whether there is more to come.
 */
import { unexpectedResponse } from './interlude-error.ts';
import { pause, retryDelayMs } from './retry.ts';
import type { Timing } from './retry.ts';
import { ConnectionLost } from './send.ts';
import { watchSilence } from './watch-silence.ts';

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
  /** Bytes arrived: the connection is not silent. */
  alive(): void;
  /** Something new arrived: the backoff of the next interruption starts over. */
  advanced(): void;
}

/** Yields what `read` yields from each stream, until `read` returns that it is over. */
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
    // A connection that lasted this long was healthy, even if nothing new arrived: the backoff starts over.
    if (Date.now() - openedAt > timing.lastRetryMs) attempt = 0;
    await pause(Math.max(retryAfterMs, retryDelayMs(attempt, timing)), signal);
    attempt += 1;
  }
}

/** The body of an event stream; anything else is not Interlude's. */
export function streamOf(response: Response): ReadableStream<Uint8Array<ArrayBuffer>> {
  const isEventStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (!response.body || !isEventStream) throw unexpectedResponse(response);
  return response.body;
}
