/** When to try again: soon at first, then ever more slowly, never all clients at the same moment. */

export interface Timing {
  /** Pause before the first new attempt, in milliseconds; doubled each time (250). */
  firstRetryMs: number;
  /** Longest pause between two attempts (5000). */
  lastRetryMs: number;
  /** A stream without a byte for this long counts as broken; the service sends one at least every 15 s (45000). */
  silenceMs: number;
  /**
   * How long a call, like an answer or a cancel, is tried before it fails with `unreachable`, and how long a message
   * waits for a turn that was told to stop (30000). Streams never give up.
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

/** Rejects with the signal's reason as soon as it aborts. */
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
