/**
 * In debug mode, Temporal limits each call into a workflow to 49 days. For any limit Node starts a thread and waits for
 * its end, hundreds of times in a turn, which takes an eighth of the processor's time. Here such a call has no limit.
 */
import vm from 'node:vm';

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
