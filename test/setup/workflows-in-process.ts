/**
 * Before every test file. Workers in the test's own process run workflows in its main thread (Temporal's debug mode):
 * starting a thread for each worker, which loads Temporal's modules and the bundle anew, is a sixth of what a file with
 * several services costs. Programs of ours that tests start are not given this; there, workflows have their threads.
 */
import v8 from 'node:v8';
import vm from 'node:vm';

process.env['TEMPORAL_DEBUG'] = '1';

// Temporal notes where each promise of a workflow was made, for the query `__stack_trace`. In the main thread that hook is
// called for every promise of the process, and takes an eighth of the processor's time.
v8.promiseHooks.createHook = () => () => undefined;

/**
 * In debug mode, Temporal limits each call into a workflow to 49 days. For any limit Node starts a thread and waits for
 * its end, hundreds of times in a turn, which takes an eighth of the processor's time. Here such a call has no limit.
 */
const debugLimitMs = 2 ** 32 - 1;

const runInContext = Object.getOwnPropertyDescriptor(vm.Script.prototype, 'runInContext')?.value as (
  this: vm.Script,
  context: vm.Context,
  options?: vm.RunningScriptOptions,
) => unknown;

vm.Script.prototype.runInContext = function (context, options) {
  const { timeout, ...unlimited } = options ?? {};
  return runInContext.call(this, context, timeout === debugLimitMs ? unlimited : options);
};
