/** Retries: when to try again, and requests that are tried until they are answered. */
import { asInterludeError, ConnectionLost } from './send.ts';
import type { Call, Send } from './send.ts';
import { InterludeError } from './interlude-error.ts';

export interface Timing {
  /** Pause before the first retry, in milliseconds; doubled each time (250). */
  firstRetryMs: number;
  /** Longest pause between two attempts (5000). */
  lastRetryMs: number;
  /** A stream without a byte for this long counts as broken; the service sends one at least every 15 s (45000). */
  silenceMs: number;
  /**
   * How long a call, such as an answer or a cancellation, is tried before it fails with `unreachable`, and how long a
   * message waits for a turn that is being stopped (30000). Streams never give up.
   */
  giveUpMs: number;
}

export const defaultTiming: Timing = {
  firstRetryMs: 250,
  lastRetryMs: 5_000,
  silenceMs: 45_000,
  giveUpMs: 30_000,
};

export function retryDelayMs(attempt: number, { firstRetryMs, lastRetryMs }: Timing): number {
  const full = Math.min(lastRetryMs, firstRetryMs * 2 ** Math.min(attempt, 30));
  return full * (0.75 + Math.random() * 0.25);
}

export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    function stop() {
      clearTimeout(timer);
      reject(signal?.reason);
    }
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Tries until `signal` aborts, instead of for `timing.giveUpMs`. */
  retryForever?: boolean;
}

export type Ask = <T>(request: Call, options?: CallOptions) => Promise<T>;

export function createAsk(send: Send, timing: Timing): Ask {
  return async <T>(request: Call, { signal, retryForever = false }: CallOptions = {}) => {
    const deadline = retryForever ? Infinity : Date.now() + timing.giveUpMs;
    let loss: ConnectionLost | undefined;
    for (let attempt = 0; ; attempt += 1) {
      const limit = AbortSignal.timeout(Math.min(timing.giveUpMs, Math.max(1, deadline - Date.now())));
      try {
        const response = await send(request, signal ? AbortSignal.any([signal, limit]) : limit);
        return await readJson<T>(response);
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof ConnectionLost)) throw error;
        // An attempt that our own limit ended says less than the one before it.
        if (!limit.aborted) loss = error;
        const delayMs = Math.max(error.retryAfterMs, retryDelayMs(attempt, timing));
        if (Date.now() + delayMs >= deadline) throw asInterludeError(loss ?? error);
        await pause(delayMs, signal);
      }
    }
  };
}

/**
 * An answer that breaks off is retried. Not `response.json()`: in a VM context, which Jest makes for each test file, its objects
 * have the prototypes of another realm, and `deepEqual` fails.
 */
export async function readJson<T>(response: Response): Promise<T> {
  try {
    return JSON.parse(await response.text()) as T;
  } catch (cause) {
    throw new ConnectionLost('The answer could not be read.', { cause });
  }
}

/**
 * For a message to a conversation whose turn is being stopped: sends it until that turn has ended. Gives up with the last
 * error of the service.
 */
export function untilFree(send: Send, { giveUpMs, firstRetryMs }: Timing): Send {
  return async (call, signal) => {
    const deadline = Date.now() + giveUpMs;
    for (;;) {
      try {
        return await send(call, signal);
      } catch (error) {
        if (!(error instanceof InterludeError) || error.code !== 'turn_in_progress') throw error;
        const delayMs = error.retryAfterMs ?? firstRetryMs;
        if (Date.now() + delayMs >= deadline) throw error;
        await pause(delayMs, signal);
      }
    }
  };
}
