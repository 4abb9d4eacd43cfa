/** Runs an author's function for as long as it may take. */
import { setTimeout as sleep } from 'node:timers/promises';
import { stopSignal } from '../stop-signal.ts';

/** How long code may take to end by itself once it is asked to stop. */
const gracePeriodMs = 2_000;

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
