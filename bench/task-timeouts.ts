/** Loaded into the service's processes before the service itself: gives Temporal other time-outs than the service does. */
import { WorkflowClient } from '@temporalio/client';
import { Worker } from '@temporalio/worker';

const task = process.env['BENCH_TASK_TIMEOUT'];
const sticky = process.env['BENCH_STICKY_TIMEOUT'];

if (task !== undefined)
  replace(WorkflowClient.prototype, 'start', ([type, options]) => [
    type,
    { ...options, workflowTaskTimeout: task },
  ]);
if (sticky !== undefined)
  replace(Worker, 'create', ([options]) => [{ ...options, stickyQueueScheduleToStartTimeout: sticky }]);

/** `change`: of what the method is called with. */
function replace<T extends object>(
  owner: T,
  name: keyof T & string,
  change: (given: object[]) => unknown[],
): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== 'function') throw new Error(`${name} is no function any more`);
  Reflect.set(owner, name, function changed(this: T, ...given: object[]): unknown {
    return Reflect.apply(original, this, change(given));
  });
}
