/** Runs an author's function for as long as it may take, and writes what came of it even where the database is away for a moment. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseTrouble } from '../../storage/transient-errors.ts';
import { stopSignal } from '../stop-signal.ts';

/** How long code that is told to stop has to come to its end by itself. */
const gracePeriodMs = 2_000;
const longestPauseMs = 6_400;

/** Inside `withStopSignal`. `work` must not reject. */
export async function withinTime<T>(
  work: Promise<T>,
  timeoutMs: number,
): Promise<T | 'time-out' | 'stopped'> {
  const over = new AbortController();
  const outcome = await Promise.race([
    work,
    sleep(timeoutMs, 'time-out' as const, { signal: over.signal }).catch(() => 'time-out' as const),
    stoppedFor(gracePeriodMs, over.signal),
  ]);
  over.abort();
  return outcome;
}

async function stoppedFor(ms: number, signal: AbortSignal): Promise<'stopped'> {
  const stop = stopSignal();
  const heard =
    stop.aborted || new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true, signal }));
  await heard;
  await sleep(ms, undefined, { signal }).catch(() => undefined);
  return 'stopped';
}

/** What has happened is kept as long as there is time for it: some 13 seconds. */
export async function keepTrying(write: () => Promise<unknown>): Promise<void> {
  for (let pauseMs = 100; ; pauseMs *= 2) {
    try {
      await write();
      return;
    } catch (error) {
      if (!isDatabaseTrouble(error) || pauseMs > longestPauseMs) throw error;
    }
    await sleep(pauseMs);
  }
}
