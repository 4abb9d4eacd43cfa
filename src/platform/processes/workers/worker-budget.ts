/**
 * What all versions of the workflow code in a process share: task slots, and room for cached workflows.
 *
 * A worker counts the tasks of all versions and its own open polls, but not the polls of others: a version without work
 * polls all the time, and would otherwise take slots from the others. So with several versions the limit can be
 * exceeded by the number of open polls.
 */
import v8 from 'node:v8';
import type { CustomSlotSupplier, SlotInfo, SlotPermit, WorkerTuner } from '@temporalio/worker';
import type { Config } from '../../config/config.ts';

/** The SDK's own default for one worker. */
const workflowTasks = 40;
/** Short writes inside workflow tasks. More would only wait for the database's connections. */
const localWrites = 100;
/** The SDK's rule for workflows that share a context: 600 for each GiB of the heap beyond 200 MiB. */
const cachedWorkflows = Math.max(
  10,
  Math.floor((Math.max(v8.getHeapStatistics().heap_size_limit / 2 ** 20 - 200, 0) * 600) / 1024),
);
/** A worker with fewer stalled. */
const leastCached = 10;

interface WorkerBudget {
  tuner(): WorkerTuner;
  /**
   * How many workflows a worker may cache, until it gives them back. The own version has three quarters of the room;
   * each other version takes half of what is left of the last quarter.
   */
  takeCache(isOwn: boolean): { size: number; giveBack(): void };
}

/**
 * Calls whose servers hold the connection while a person thinks have a limit of their own: see
 * activities/call-tool/held-call-limit.ts.
 */
export function createWorkerBudget({ worker }: Pick<Config, 'worker'>): WorkerBudget {
  const workflowSlots = createSharedSlots(workflowTasks);
  const activitySlots = createSharedSlots(worker.calls + worker.heldCalls);
  let left = Math.floor(cachedWorkflows / 4);
  return {
    tuner: () => ({
      workflowTaskSlotSupplier: workflowSlots(),
      activityTaskSlotSupplier: activitySlots(),
      localActivityTaskSlotSupplier: { type: 'fixed-size', numSlots: localWrites },
      nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
    }),
    takeCache(isOwn) {
      if (isOwn)
        return {
          size: Math.max(leastCached, cachedWorkflows - Math.floor(cachedWorkflows / 4)),
          giveBack() {},
        };
      const size = Math.max(leastCached, Math.floor(left / 2));
      left -= size;
      return { size, giveBack: () => void (left += size) };
    },
  };
}

interface Permit extends SlotPermit {
  isUsed: boolean;
}

/** Makes suppliers that share `total` slots. */
export function createSharedSlots(total: number): <Info extends SlotInfo>() => CustomSlotSupplier<Info> {
  let used = 0;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const resolve of waiting) resolve();
    waiting.clear();
  };

  return () => {
    /** Slots of this worker's open polls. */
    let reserved = 0;
    const isFree = () => used + reserved < total;
    const reserve = (): Permit => {
      reserved += 1;
      return { isUsed: false };
    };
    return {
      type: 'custom',
      async reserveSlot(_context, signal) {
        while (!isFree() && !signal.aborted) {
          const { promise, resolve } = Promise.withResolvers<void>();
          waiting.add(resolve);
          signal.addEventListener('abort', () => resolve(), { once: true });
          await promise;
        }
        return reserve();
      },
      tryReserveSlot: () => (isFree() ? reserve() : null),
      markSlotUsed(context) {
        (context.permit as Permit).isUsed = true;
        reserved -= 1;
        used += 1;
      },
      releaseSlot(context) {
        if ((context.permit as Permit).isUsed) used -= 1;
        else reserved -= 1;
        wake();
      },
    };
  };
}
