/** The difference between this process's clock and another one: reported, never a reason to stop. */

/** Larger differences are logged. */
export const toleratedMs = 5_000;

interface ClockDifference {
  /** Positive if this process's clock is ahead. */
  measured(aheadMs: number): void;
  /** The last measurement, in whole milliseconds; null before the first. */
  aheadMs(): number | null;
}

interface Log {
  warn(about: object, message: string): void;
  info(about: object, message: string): void;
}

/** `other`: the owner of the other clock, for the log. Warns once, and again when the difference has changed by as much. */
export function createClockDifference(other: string, logger: Log): ClockDifference {
  let last: number | null = null;
  let warnedOf = 0;

  return {
    measured(aheadMs) {
      last = Math.round(aheadMs);
      const isWrong = Math.abs(last) > toleratedMs;
      if (isWrong && Math.abs(last - warnedOf) > toleratedMs) {
        warnedOf = last;
        const seconds = Math.round(Math.abs(last) / 1000);
        const direction = last > 0 ? 'ahead of' : 'behind';
        logger.warn(
          { aheadMs: last },
          `the clock of this machine is ${seconds} s ${direction} that of ${other}; synchronise both with NTP`,
        );
      }
      if (!isWrong && warnedOf !== 0) {
        warnedOf = 0;
        logger.info({ aheadMs: last }, `the clock of this machine agrees with that of ${other} again`);
      }
    },
    aheadMs: () => last,
  };
}
