/**
 * What limits count. Counting happens in memory. Once a second a process writes what it has counted, and reads what others
 * have, so no request costs a statement. Limits are therefore exceeded by what the other processes count within that second,
 * and by small counts, which are not written.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Database } from './database.ts';
import { exchangeCounts } from './tables/shared-counts.ts';

export interface Limit {
  /** What is counted, and of whom. */
  name: string;
  max: number;
  /** `minute`, `day`: what was added since it began. `now`: what was added and not taken away again. */
  per: 'minute' | 'day' | 'now';
}

export interface Counts {
  /** How long to wait for room, in milliseconds; null: there is room. */
  waitFor(limit: Limit): number | null;
  /** `by` is negative to take away. */
  add(limit: Limit, by?: number): void;
}

export interface Count {
  per: Limit['per'];
  /** Of this process, until then. */
  own: number;
  until: number;
  /** As last read of all other processes; the first of their counts ends then. */
  others: number;
  othersUntil: number;
  /** Smaller counts are not written. */
  writtenFrom: number;
  isChanged: boolean;
  isAskedFor: boolean;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** How long to wait for a place: when one gets free is unknown. */
const placeMs = 5_000;
const exchangeEveryMs = 1_000;
/** What is open in a process that was killed counts until then. */
const leaseMs = 2 * minuteMs;
const lengthOf = (per: Limit['per']) => (per === 'minute' ? minuteMs : dayMs);
/** Counts of less than a twentieth of a limit are not written. */
const writtenPart = 20;
/** Of callers that are remembered; of more, the oldest are forgotten, but none with something open. */
const mostNames = 100_000;

/** Of this process alone. `most`: names to remember. */
export function createCounts(now: () => number, most = mostNames) {
  const counts = new Map<string, Count>();

  function countOf({ name, per, max }: Limit): Count {
    const at = now();
    const known = counts.get(name);
    // A clock that was set back must not make a minute longer.
    if (known && (per === 'now' || (known.until > at && known.until <= at + lengthOf(per)))) return known;
    const count: Count = {
      per,
      own: 0,
      until: at + (per === 'minute' ? minuteMs : per === 'day' ? dayMs - (at % dayMs) : Infinity),
      others: known?.others ?? 0,
      othersUntil: known?.othersUntil ?? 0,
      writtenFrom: max / writtenPart,
      isChanged: false,
      isAskedFor: false,
    };
    // The oldest is first.
    counts.delete(name);
    if (counts.size >= most) forgetOldest();
    counts.set(name, count);
    return count;
  }

  /** What is open counts until it is closed: there are no more of these than connections. */
  function forgetOldest(): void {
    for (const [name, { per, own }] of counts) {
      if (per === 'now' && own > 0) continue;
      counts.delete(name);
      if (counts.size < most) return;
    }
  }

  return {
    counts,
    waitFor(limit: Limit): number | null {
      const at = now();
      const count = countOf(limit);
      count.isAskedFor = true;
      const others = count.othersUntil > at ? count.others : 0;
      if (count.own + others < limit.max) return null;
      if (limit.per === 'now') return placeMs;
      return Math.min(count.own > 0 ? count.until : Infinity, others > 0 ? count.othersUntil : Infinity) - at;
    },
    add(limit: Limit, by = 1): void {
      const count = countOf(limit);
      count.own = Math.max(0, count.own + by);
      count.isChanged = true;
      count.isAskedFor = true;
    },
  } satisfies Counts & { counts: Map<string, Count> };
}

/** Of all processes with this database. */
export function createSharedCounts(database: Database, logger: Logger): Counts & { close(): Promise<void> } {
  const { now } = database;
  const process = randomUUID();
  const { counts, waitFor, add } = createCounts(now);
  const written = new Set<string>();
  let renewAt = 0;
  let isAway = false;
  let exchanging: Promise<void> | undefined;

  async function exchange(): Promise<void> {
    const at = now();
    const isRenewal = at >= renewAt;
    const all = [...counts];
    const changed = all.filter(([name, { per, own, isChanged, writtenFrom }]) =>
      written.has(name)
        ? isChanged || (isRenewal && per === 'now' && own > 0)
        : isChanged && own >= writtenFrom,
    );
    const wanted = all.filter(([, { per, own, others, isAskedFor, writtenFrom }]) =>
      per === 'now' ? own >= Math.max(1, writtenFrom) || others > 0 || isAskedFor : isAskedFor,
    );
    for (const [, count] of all) Object.assign(count, { isChanged: false, isAskedFor: false });
    if (changed.length === 0 && wanted.length === 0) return;
    if (isRenewal) renewAt = at + leaseMs / 2;
    try {
      const others = await exchangeCounts(database, {
        process,
        own: changed.map(([name, { per, own, until }]) => ({
          name,
          amount: own,
          until: per === 'now' ? at + leaseMs : until,
        })),
        names: wanted.map(([name]) => name),
        forgetsOld: isRenewal,
      });
      for (const [name] of changed) written.add(name);
      for (const [name, count] of wanted)
        Object.assign(count, { others: 0, othersUntil: 0, ...others.get(name) });
      isAway = false;
    } catch (error) {
      // They are written at the next change.
      for (const [, count] of changed) count.isChanged = true;
      if (!isAway)
        logger.warn({ err: error }, 'limits count for this process alone while the database is away');
      isAway = true;
    }
    forget(at);
  }

  function forget(at: number): void {
    for (const [name, { per, own, others, until, othersUntil }] of counts) {
      const isOver = per === 'now' ? own === 0 && others === 0 : until <= at && othersUntil <= at;
      if (!isOver) continue;
      counts.delete(name);
      written.delete(name);
    }
  }

  const timer = setInterval(() => {
    exchanging ??= exchange().finally(() => (exchanging = undefined));
  }, exchangeEveryMs).unref();
  return {
    waitFor,
    add,
    async close() {
      clearInterval(timer);
      await exchanging;
      // What was open is closed now.
      if (written.size > 0) await exchange();
    },
  };
}
