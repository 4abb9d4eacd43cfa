/**
 * The workflow of a tool in TypeScript, a child of its agent's workflow, with the code that the call began with. Input,
 * questions, answers and result pass through its history, which is sealed; its agent's workflow sees only how it ended.
 */
import type { ActivityOptions } from '@temporalio/common';
import {
  ActivityCancellationType,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow';
import type {
  DurableToolActivities,
  DurableToolResult,
} from '../../activities/durable-tools/durable-tools.ts';
import type { EffectCall, EffectResult } from '../../activities/durable-tools/effects.ts';
import { inWords } from '@interlude-ai/core/elicitation/wording.ts';
import type { ToolRequest } from '../../turn/ask.ts';
import { usualEffectMs } from '../../turn/step.ts';
import { failureOf, misfitOf, resultOf, toJson } from '../../turn/tool-code.ts';
import type {
  ActivityOptions as EffectOptions,
  ReadSchema,
  ToolCode,
  ToolRunContext,
} from '../../turn/tool-code.ts';
import {
  isGivenUp,
  maximumAttempts,
  retryUntilDatabaseAnswers,
  shortWrites,
  untilCancelled,
} from '../failures.ts';
import { activityPrefix } from '../messages.ts';
import type { DurableToolEnd, DurableToolInput } from '../messages.ts';
import { OperatorView } from '../operator-view.ts';
import { Questions } from '../questions.ts';
import { createElicitForAuthor } from './elicit-for-author.ts';
import { createReports } from './sinks.ts';

const { beginTool, finishTool } = proxyLocalActivities<DurableToolActivities>(shortWrites);

/** The workflow that runs any tool of a folder. `defined`: what `defineTool` returned. */
export function createDurableTool(defined: readonly unknown[], readSchema: ReadSchema) {
  const tools = defined as readonly ToolCode[];
  return async function durableTool(call: DurableToolInput): Promise<DurableToolEnd> {
    const tool = tools.find(({ name }) => name === call.toolName);
    if (!tool)
      throw ApplicationFailure.nonRetryable(`There is no tool ${call.toolName} here.`, 'UnknownTool');
    return runTool({ ...tool, title: tool.title ?? inWords(tool.name) }, call, readSchema);
  };
}

async function runTool(
  tool: ToolCode & { title: string },
  call: DurableToolInput,
  readSchema: ReadSchema,
): Promise<DurableToolEnd> {
  const { turn, toolCallId, approval } = call;
  const scope = CancellationScope.current();
  const view = new OperatorView();
  const questions = new Questions(turn.user, (ids) => view.settled(ids));
  const reports = createReports(call);
  const unasked: ToolRequest[] = [];
  const elicit = createElicitForAuthor({ tool, call, questions, view, readSchema, unasked, ...reports });
  const context: ToolRunContext = {
    elicit: (...question) => floating(elicit(...question)),
    activities: createToolActivities(call, tool.activities, view),
    user: turn.user,
    tenant: turn.tenant,
    toolCallId,
    ...reports,
  };
  let wasWaiting = false;
  // Runs before anything in this scope stops waiting.
  scope.cancelRequested.catch(() => (wasWaiting = view.isWaiting));

  const begun = await CancellationScope.nonCancellable(() =>
    beginTool({ turn, toolCallId, ...(approval && { approval }) }),
  );
  if (begun.kind === 'over') return { status: 'finished' };
  const result = await view.whileRunning(toolCallId, () => run(begun.input).catch(toResult));
  // Written even while the call is being cancelled.
  await CancellationScope.nonCancellable(() =>
    finishTool.executeWithOptions({ summary: `${tool.name}: ${result.kind}` }, [
      { turn, toolCallId, result, unasked },
    ]),
  );
  await condition(allHandlersFinished);
  return { status: scope.consideredCancelled ? 'cancelled' : 'finished' };

  async function run(input: unknown): Promise<DurableToolResult> {
    const read = tool.input.safeParse(input);
    if (!read.success) return misfitOf(tool.title, read.error);
    return resultOf(tool, await tool.run(read.data, context));
  }

  function toResult(error: unknown): DurableToolResult {
    if (scope.consideredCancelled && isCancellation(error)) return { kind: 'stopped', wasWaiting };
    return failureOf(tool.title, error);
  }
}

/** Time to read and write the row of an effect, before and after it has run. */
const marginMs = 15_000;

/** Longer effects are no local activities, which hold the task of their workflow: meanwhile it receives no signals. */
const longestLocalMs = 10_000;

const asTask: ActivityOptions = {
  // A dead worker is noticed after this long.
  heartbeatTimeout: '12s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
};

type Run = (call: EffectCall) => Promise<EffectResult>;

/** The author's activities, as a tool calls them: each has its effect once, or its outcome is reported as unknown. */
export function createToolActivities(
  { turn, toolCallId }: EffectCall['call'],
  { timeoutMs = usualEffectMs, idempotent = [] }: EffectOptions = {},
  view: OperatorView,
): ToolRunContext['activities'] {
  const startToCloseTimeout = timeoutMs + marginMs;
  // Later attempts read what the first one left in its row, and repeat nothing that may have run.
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

/** Authors distinguish errors by name, as `OutcomeUnknown` of `@interlude-ai/tools` does. */
function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

/** An author may forget to await it, and an unhandled rejection would fail the workflow's task again and again. */
export function floating<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
