/**
 * Whether new turns are refused because the service has more work than it can do, or because their tenant has its share
 * of it. Answers and streams are never refused for this: they end turns, and free what they use.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Logger } from 'pino';
import type { Storage } from '../storage/storage.ts';
import type { StartingTurns } from '../storage/tables/turns.ts';
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
  let starting: StartingTurns = { turns: 0, ofTenant: new Map(), areTenantsSeveral: false };
  /** Turns that this process has let start since the last measurement, by tenant; a worker may have begun them. */
  const since = new Map<string, number>();
  let isAsked = false;
  /** Of several tenants, none may have more turns than this waiting. */
  const share = Math.ceil(most / 2);
  let isShareFull = false;
  let areTenantsSeveral = false;
  let cause: Cause | null = null;
  let measuring: Promise<void> | undefined;

  async function measure(): Promise<void> {
    const loopMs = loop.percentile(50) / 1e6;
    loop.reset();
    // Without starts there is nothing to refuse.
    if (!isAsked && cause === null && starting.turns === 0) return;
    isAsked = false;
    since.clear();
    const startedAt = performance.now();
    starting = await storage.turns.starting(most + 1);
    if (starting.turns > 0) areTenantsSeveral = starting.areTenantsSeveral;
    const databaseMs = performance.now() - startedAt;
    const isSlow = loopMs > longLoopMs || databaseMs > slowDatabaseMs;
    bad = isSlow ? bad + 1 : 0;
    const before = cause;
    reportShare();
    if (starting.turns > most) cause = 'too many turns wait for a worker';
    else if (bad < badInARow) cause = null;
    else cause = loopMs > longLoopMs ? 'the process is busy' : 'the database is slow';
    if ((before === null) === (cause === null)) return;
    const figures = {
      loopMs: Math.round(loopMs),
      databaseMs: Math.round(databaseMs),
      starting: starting.turns,
    };
    if (cause === null) logger.info(figures, 'no longer overloaded: turns start again');
    else logger.warn({ ...figures, reason: cause }, 'overloaded: new turns are refused');
  }

  function reportShare(): void {
    const full = areTenantsSeveral ? [...starting.ofTenant].filter(([, turns]) => turns >= share) : [];
    if (full.length > 0 === isShareFull) return;
    isShareFull = !isShareFull;
    if (isShareFull)
      logger.warn(
        { tenants: Object.fromEntries(full) },
        'half of the turns that may wait for a worker are of one tenant: its new turns are refused',
      );
    else logger.info('no tenant has half of the turns that may wait for a worker any more');
  }

  const timer = setInterval(() => {
    // While the database is away, each request finds that out for itself.
    measuring ??= measure()
      .catch(() => undefined)
      .finally(() => (measuring = undefined));
  }, everyMs).unref();

  return {
    /** Null, or why no turn of the tenant starts now. */
    refusal(tenant: string): ServiceError | null {
      isAsked = true;
      const lately = since.get(tenant) ?? 0;
      const own = (starting.ofTenant.get(tenant) ?? 0) + lately;
      const hasItsShare = areTenantsSeveral && own >= share;
      const all = [...since.values()].reduce((sum, turns) => sum + turns, starting.turns);
      const isOverloaded = cause !== null || all > most;
      if (!isOverloaded && !hasItsShare) {
        since.set(tenant, lately + 1);
        return null;
      }
      // Not all come back at once.
      const retryAfterMs = shortestWaitMs + Math.random() * (longestWaitMs - shortestWaitMs);
      const why = isOverloaded
        ? 'The service has more work than it can do now.'
        : 'Too many turns of your tenant wait for a worker.';
      const words = `${why} The turn was not started; try again in a few seconds.`;
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
