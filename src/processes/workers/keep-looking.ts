/** When workers look for open workflows that began with other code: often while there are any, otherwise seldom. */
import type { Dependencies } from '../dependencies.ts';
import type { CodeWorkers } from './code-workers.ts';

export interface LookIntervals {
  /** A workflow may wait for code that no process runs. */
  busyMs: number;
  /** Where there was none for a while: a new one can only come from a worker with other code, which runs it itself. */
  quietMs: number;
  /** For how long the shorter interval goes on, because Temporal lists what has just begun with a delay. */
  settledAfterMs: number;
}

/** Looks now, and again and again until the stack is disposed. */
export async function keepLooking(
  workers: Pick<CodeWorkers, 'look' | 'stop'>,
  {
    intervals: { busyMs, quietMs, settledAfterMs },
    logger,
    stack,
  }: { intervals: LookIntervals; logger: Pick<Dependencies['logger'], 'warn'>; stack: AsyncDisposableStack },
): Promise<void> {
  let busyAt = performance.now();
  const look = async () => {
    const seen = await workers.look().catch((err: unknown) => {
      logger.warn({ err }, 'could not look for open workflows of other code; trying again');
      return 'busy';
    });
    if (seen === 'busy') busyAt = performance.now();
  };
  let looking = look();
  await looking;
  let timer: NodeJS.Timeout;
  const lookLater = () => {
    timer = setTimeout(
      () => {
        looking = look();
        void looking.then(() => !isOver && lookLater());
      },
      performance.now() - busyAt < settledAfterMs ? busyMs : quietMs,
    );
  };
  let isOver = false;
  lookLater();
  stack.defer(async () => {
    isOver = true;
    clearTimeout(timer);
    await looking;
    await workers.stop();
  });
}
