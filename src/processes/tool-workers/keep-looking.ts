/** When workers look for open calls of tools that began with other code: often while there are any, else seldom. */
import type { Dependencies } from '../dependencies.ts';
import type { ToolWorkers } from './tool-workers.ts';

export interface LookIntervals {
  /** Somebody waits for a call whose code nobody runs. */
  busyMs: number;
  /** Where no such call was seen for a while: one can only come from a worker with other code, which runs it itself. */
  quietMs: number;
  /** For how long the shorter interval goes on, because Temporal lists what has just begun with a delay. */
  settledAfterMs: number;
}

/** Looks now, and again and again until the stack is disposed. */
export async function keepLooking(
  workers: Pick<ToolWorkers, 'look' | 'stop'>,
  {
    intervals: { busyMs, quietMs, settledAfterMs },
    logger,
    stack,
  }: { intervals: LookIntervals; logger: Pick<Dependencies['logger'], 'warn'>; stack: AsyncDisposableStack },
): Promise<void> {
  let busyAt = Date.now();
  const look = async () => {
    const seen = await workers.look().catch((err: unknown) => {
      logger.warn({ err }, 'could not look for open calls of tools');
      return 'busy';
    });
    if (seen === 'busy') busyAt = Date.now();
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
      Date.now() - busyAt < settledAfterMs ? busyMs : quietMs,
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
