/**
 * The database's clock. Leases and deadlines are written and compared with it, so that processes agree on them even when the
 * clock of one is wrong.
 *
 * It is read once a minute and carried forward by the monotonic clock, so that `now()` costs no statement. The error is at
 * most half the duration of the reading.
 */
import type { Logger } from 'pino';
import { clockDiffers } from '../platform/telemetry/metrics/instruments.ts';
import { createClockDifference } from '../platform/clock-difference.ts';

export interface DatabaseClock {
  /** Epoch milliseconds. */
  now(): number;
  /** How far this process's clock is ahead of the database's, in milliseconds. */
  aheadMs(): number | null;
  close(): void;
}

const everyMs = 60_000;
/** A slower reading is too inexact; the process may have been frozen. */
const slowMs = 1_000;
/** The machine has slept, or its clock was set: the monotonic clock alone is not enough. */
const jumpMs = 1_000;

export async function startDatabaseClock(
  read: () => Promise<number>,
  logger: Logger,
): Promise<DatabaseClock> {
  const difference = createClockDifference('the database', logger);
  const wall = () => Date.now() - performance.now();
  let offset = NaN;
  let wallAtReading = 0;
  let reading: Promise<void> | undefined;

  async function measure(): Promise<void> {
    const before = performance.now();
    const time = await read();
    const after = performance.now();
    if (after - before > slowMs && !Number.isNaN(offset)) return;
    offset = time - (before + after) / 2;
    wallAtReading = wall();
    difference.measured(wallAtReading - offset);
    clockDiffers('database', wallAtReading - offset);
  }

  /** While the database is away, the last reading counts. */
  const measureAgain = () => {
    reading ??= measure()
      .catch(() => undefined)
      .finally(() => (reading = undefined));
  };

  await measure();
  const timer = setInterval(measureAgain, everyMs).unref();
  return {
    now() {
      if (Math.abs(wall() - wallAtReading) > jumpMs) measureAgain();
      return Math.floor(offset + performance.now());
    },
    aheadMs: difference.aheadMs,
    close: () => clearInterval(timer),
  };
}

/** For a database in a file: its processes share the machine's clock. Tests may set it. */
export function machineClock(now: () => number): DatabaseClock {
  return { now, aheadMs: () => null, close: () => undefined };
}
