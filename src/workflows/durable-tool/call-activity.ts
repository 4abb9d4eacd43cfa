/** The author's activities, as a tool calls them: each has its effect once, or its outcome is reported as unknown. */
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { ActivityOptions } from '@temporalio/common';
import type { EffectCall, EffectResult } from '../../activities/durable-tools/effects.ts';
import { usualEffectMs } from '../../turn/tool-call.ts';
import {
  isGivenUp,
  maximumAttempts,
  retryUntilDatabaseAnswers,
  shortWrites,
  untilCancelled,
} from '../failures.ts';
import { activityPrefix } from '../messages.ts';
import type { OperatorView } from '../operator-view.ts';
import type { ActivityOptions as EffectOptions, ToolRunContext } from '../../turn/tool-code.ts';
import { toJson } from '../../turn/code-result.ts';

/** For its row, before and after. */
const marginMs = 15_000;

/** Those that may take longer hold no task of their tool's workflow: one that is held receives no signals. */
const longestLocalMs = 10_000;

const asTask: ActivityOptions = {
  // A worker that dies is noticed after this long.
  heartbeatTimeout: '12s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
};

type Run = (call: EffectCall) => Promise<EffectResult>;

export function createToolActivities(
  { turn, toolCallId }: EffectCall['call'],
  { timeoutMs = usualEffectMs, idempotent = [] }: EffectOptions = {},
  view: OperatorView,
): ToolRunContext['activities'] {
  const startToCloseTimeout = timeoutMs + marginMs;
  // Attempts after the first look at what the first one left behind, and repeat nothing that may have run.
  const run =
    timeoutMs <= longestLocalMs
      ? proxyLocalActivities<Record<string, Run>>({ ...shortWrites, startToCloseTimeout })
      : proxyActivities<Record<string, Run>>({ ...asTask, startToCloseTimeout });

  let calls = 0;

  async function call(name: string, args: unknown[]): Promise<unknown> {
    const given = toJson(args);
    if (given.kind === 'problem') throw new Error(`What ${name} is called with ${given.problem}.`);
    const isIdempotent = idempotent.includes(name);
    const effectId = String(++calls);
    const effect = await view.whileRunning(`${name}/${effectId}`, () =>
      outcomeOf(name, { call: { turn, toolCallId }, effectId, args, timeoutMs, isIdempotent }),
    );
    switch (effect.kind) {
      case 'done':
        return effect.value;
      case 'failed':
        throw named(effect.name, effect.message);
      case 'unknown':
        throw named('OutcomeUnknown', `${name}: ${effect.reason}`);
      default:
        return effect satisfies never;
    }
  }

  async function outcomeOf(name: string, input: EffectCall): Promise<EffectResult> {
    const activity = run[activityPrefix + name];
    if (!activity) throw new Error(`There is no activity ${name}.`);
    try {
      return await retryUntilDatabaseAnswers(() => activity(input));
    } catch (error) {
      if (!isGivenUp(error)) return untilCancelled(error);
      return { kind: 'unknown', reason: 'it did not say what became of it, so it may or may not have run.' };
    }
  }

  return new Proxy<ToolRunContext['activities']>(
    {},
    {
      get: (_, name) =>
        typeof name === 'string' ? (...args: unknown[]) => floating(call(name, args)) : undefined,
    },
  );
}

/** Authors tell errors apart by name: `OutcomeUnknown` of `interlude/tools` does, too. */
function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

/** An author may forget to await it: an unhandled rejection would fail the workflow's task again and again. */
export function floating<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
