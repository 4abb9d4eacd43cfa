/**
 * Whether new turns are refused because the service has more work than it can do. Answers and streams are never refused for
 * this: they end turns, and free what they use.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Logger } from 'pino';
import type { Storage } from '../storage/storage.ts';
import { ServiceError } from './service-error.ts';

interface Parts {
  storage: { turns: Pick<Storage['turns'], 'starting'> };
  /** The turns that may wait for a worker. */
  most: number;
  logger: Logger;
}

const everyMs = 1_000;
/** Half of the process's tasks wait longer for their turn. */
const longLoopMs = 250;
/** A short statement takes this long, with its wait for a connection. */
const slowDatabaseMs = 1_000;
/** A single bad measurement may be one long task, or a restart of the database. */
const badInARow = 3;
const shortestWaitMs = 2_000;
const longestWaitMs = 8_000;

type Cause = 'the process is busy' | 'the database is slow' | 'too many turns wait for a worker';

export function watchOverload({ storage, most, logger }: Parts) {
  const loop = monitorEventLoopDelay({ resolution: 20 });
  loop.enable();
  let bad = 0;
  let starting = 0;
  /** Turns that this process has let start since the last measurement; a worker may have begun them. */
  let since = 0;
  let cause: Cause | null = null;
  let measuring: Promise<void> | undefined;

  async function measure(): Promise<void> {
    const loopMs = loop.percentile(50) / 1e6;
    loop.reset();
    // Without starts there is nothing to refuse.
    if (since === 0 && cause === null) return;
    since = 0;
    const startedAt = performance.now();
    starting = await storage.turns.starting(most + 1);
    const databaseMs = performance.now() - startedAt;
    const isSlow = loopMs > longLoopMs || databaseMs > slowDatabaseMs;
    bad = isSlow ? bad + 1 : 0;
    const before = cause;
    if (starting > most) cause = 'too many turns wait for a worker';
    else if (bad < badInARow) cause = null;
    else cause = loopMs > longLoopMs ? 'the process is busy' : 'the database is slow';
    if ((before === null) === (cause === null)) return;
    const figures = { loopMs: Math.round(loopMs), databaseMs: Math.round(databaseMs), starting };
    if (cause === null) logger.info(figures, 'no longer overloaded: turns start again');
    else logger.warn({ ...figures, reason: cause }, 'overloaded: new turns are refused');
  }

  const timer = setInterval(() => {
    // While the database is away, each request finds that out for itself.
    measuring ??= measure()
      .catch(() => undefined)
      .finally(() => (measuring = undefined));
  }, everyMs).unref();

  return {
    /** Null, or why no turn starts now. */
    refusal(): ServiceError | null {
      if (cause === null && starting + since <= most) {
        since += 1;
        return null;
      }
      // Not all come back at once.
      const retryAfterMs = shortestWaitMs + Math.random() * (longestWaitMs - shortestWaitMs);
      const words =
        'The service has more work than it can do now. The turn was not started; try again in a few seconds.';
      return new ServiceError('unavailable', words, { retryAfterMs });
    },
    async close(): Promise<void> {
      clearInterval(timer);
      loop.disable();
      await measuring;
    },
  };
}

export type Overload = ReturnType<typeof watchOverload>;
