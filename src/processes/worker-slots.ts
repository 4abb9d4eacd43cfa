/**
 * How much of each kind one worker process does at once. Whatever waits for a person while it keeps a slot (a tool call
 * whose server holds the line) is counted apart, and refused over its limit: it never takes the slots that others work with.
 */
import type { WorkerOptions } from '@temporalio/worker';
import type { Config } from '../config/config.ts';

/** Short writes inside workflow tasks. More at once would only queue for the database's connections. */
const localWrites = 100;

export function workerSlots({
  calls,
  heldCalls,
}: Config['worker']): Pick<
  WorkerOptions,
  'maxConcurrentActivityTaskExecutions' | 'maxConcurrentLocalActivityExecutions'
> {
  return {
    maxConcurrentActivityTaskExecutions: calls + heldCalls,
    maxConcurrentLocalActivityExecutions: localWrites,
  };
}
