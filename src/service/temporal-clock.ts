/**
 * How far this process's clock is from Temporal's. No call returns Temporal's time, so it is seen by the start times of
 * workflows that this process starts, once a minute at most. Nothing is decided by it.
 */
import type { WorkflowHandle } from '@temporalio/client';
import type { Logger } from 'pino';
import { clockDiffers } from '../telemetry/metrics/instruments.ts';
import { createClockDifference } from '../time/clock-difference.ts';
import type { TemporalCalls } from './temporal-calls.ts';
import { queryDeadlineMs } from './temporal-calls.ts';

const everyMs = 60_000;
/** A start that took longer says too little. */
const slowMs = 2_000;

export interface TemporalClock {
  /** Starts a workflow, and looks at when it has started; that is not waited for. */
  whileStarting(start: () => Promise<WorkflowHandle>): Promise<void>;
  aheadMs(): number | null;
}

export function createTemporalClock(calls: Pick<TemporalCalls, 'within'>, logger: Logger): TemporalClock {
  const difference = createClockDifference('Temporal', logger);
  let dueAt = 0;

  return {
    async whileStarting(start) {
      const [wall, before] = [Date.now(), performance.now()];
      const handle = await start();
      const tookMs = performance.now() - before;
      if (before < dueAt || tookMs > slowMs) return;
      dueAt = before + everyMs;
      const look = async () => {
        const { startTime } = await calls.within(queryDeadlineMs, () => handle.describe());
        const aheadMs = wall + tookMs / 2 - startTime.getTime();
        difference.measured(aheadMs);
        clockDiffers('temporal', aheadMs);
      };
      void look().catch(() => undefined);
    },
    aheadMs: difference.aheadMs,
  };
}
