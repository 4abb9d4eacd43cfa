/**
 * Tools in TypeScript that ask nothing: one activity is the whole call, from its approval to its result. The tool runs at
 * most once. An attempt that finds the call `started` cannot know whether the tool ran, and repeats it only if its author
 * declares it idempotent.
 */
import type { TimedQuestion } from '../../storage/tables/elicitations.ts';
import type { CallAttempt } from '../../storage/tables/call-attempt.ts';
import type { ToolCallRow } from '../../storage/schema/turn-tables.ts';
import { aboutTurn } from '../../platform/telemetry/events.ts';
import { answerTookEffect, toolExecuted } from '../../platform/telemetry/metrics/instruments.ts';
import { failCurrentCall, traceToolCall } from '../../platform/telemetry/traces/agent-spans.ts';
import { toolError } from '../../platform/telemetry/traces/names.ts';
import { currentPhase } from '../../platform/telemetry/traces/turn-spans.ts';
import { failureOf, misfitOf, resultOf, readProgress } from '../../turn/tool-code.ts';
import type { ExecuteContext, LogLevel, PlainTool } from '../../turn/tool-code.ts';
import type { AttemptResult, ExecuteToolInput } from '../../turn/step.ts';
import type { CallFailure } from '../../turn/call-failure.ts';
import { troubleInWords } from '../../turn/for-model.ts';
import type { ToolOutcome } from '../../turn/event.ts';
import type { ToolResult } from '../../turn/tool-result.ts';
import { approvalOf, isApproval, isAsApproved } from '../approval.ts';
import type { ApprovalParts } from '../approval.ts';
import { attemptAt } from '../call-tool/attempt.ts';
import { whileHeartbeating, stopped, stopSignal, withinTime } from '../running-activity.ts';
import { questionsOfCall } from '../questions.ts';
import { finishToolCall, keepTrying, requestedToolCall } from '../tool-results.ts';
import { progressOfCall } from '../progress.ts';
import { attemptHoldingCall } from '../call-tool/hold-call.ts';

interface PlainCall {
  input: ExecuteToolInput;
  by: CallAttempt;
  call: ToolCallRow;
}

/** `tools`: those of the worker's bundle, by name. */
export function createExecuteTool(parts: ApprovalParts, tools: ReadonlyMap<string, PlainTool>) {
  return {
    executeTool(input: ExecuteToolInput): Promise<AttemptResult> {
      const { turn, toolCallId } = input;
      const by = attemptAt(input);
      const own = { turn, toolCallId, by };
      return whileHeartbeating(() =>
        attemptHoldingCall(parts.storage, own, () => attempt(parts, tools, input, by)),
      );
    },
  };
}

async function attempt(
  parts: ApprovalParts,
  tools: ReadonlyMap<string, PlainTool>,
  input: ExecuteToolInput,
  by: CallAttempt,
): Promise<AttemptResult> {
  const { turn, toolCallId, needsApproval } = input;
  const phase = currentPhase(parts, turn);
  const [call, questions] = await Promise.all([
    requestedToolCall(parts.storage, turn, toolCallId, by),
    needsApproval ? questionsOfCall(parts, turn, toolCallId) : [],
  ]);
  if (call.state === 'finished') return { kind: 'finished' };
  const traced = { toolCallId, tool: call.toolName, attempt: by.attempt };
  return traceToolCall(phase, turn, traced, () => makeCall(parts, tools, { input, by, call }, questions));
}

async function makeCall(
  parts: ApprovalParts,
  tools: ReadonlyMap<string, PlainTool>,
  current: PlainCall,
  questions: TimedQuestion[],
): Promise<AttemptResult> {
  const { storage } = parts;
  const { input, by, call } = current;
  const { turn, toolCallId, needsApproval } = input;
  const tool = tools.get(call.toolName);
  if (!tool) return finish(parts, current, { code: 'tool_not_run', tool: call.toolName }, 'failed');
  const unknown = { code: 'unknown_outcome', server: tool.title } as const;
  if (call.state === 'started' && tool.idempotent !== true) return finish(parts, current, unknown, 'unknown');
  const read = readInput(tool, call.input);
  if (read.kind !== 'input') return finish(parts, current, read, 'tool_error');
  if (needsApproval) {
    const approval = await approvalOf(parts, { turn, call }, questions, input.approval);
    if (approval.kind === 'asks') return approval;
    if (approval.kind === 'over') return { kind: 'finished' };
    if (approval.kind === 'refused') return finish(parts, current, approval.failure, approval.outcome);
    if (approval.given && !(await isAsApproved(parts, { turn, call }, approval.given)))
      return finish(parts, current, { code: 'not_as_approved', server: null }, 'not_allowed');
  }
  if (call.state !== 'started' && !(await storage.toolCalls.start(turn, toolCallId, by)))
    return finish(parts, current, unknown, 'unknown');
  const approval = questions.find(({ question }) => isApproval(question))?.question;
  if (approval) answerTookEffect(approval, storage.now());
  const startedAt = performance.now();
  const result = await resultOfCall(parts, tool, current, read.input);
  const isDone = 'kind' in result && result.kind === 'output' && result.output.isError !== true;
  const failure = 'code' in result ? 'unknown' : toolError;
  toolExecuted(
    { server: undefined, toolName: call.toolName },
    { durationMs: performance.now() - startedAt, failure: isDone ? undefined : failure },
  );
  if (!isDone) failCurrentCall(failure);
  return finish(parts, current, result, failure);
}

/** A schema is the author's code and may throw. */
function readInput(tool: PlainTool, given: unknown): { kind: 'input'; input: unknown } | ToolResult {
  try {
    const read = tool.input.safeParse(given);
    return read.success ? { kind: 'input', input: read.data } : misfitOf(tool.title, read.error);
  } catch (error) {
    return failureOf(tool.title, error);
  }
}

async function resultOfCall(
  parts: ApprovalParts,
  tool: PlainTool,
  { input: { turn, toolCallId }, by, call: { toolName } }: PlainCall,
  given: unknown,
): Promise<ToolResult | CallFailure> {
  const timeUp = new AbortController();
  const stop = stopSignal();
  const writer = progressOfCall(parts.storage, { turn, toolCallId, toolName }, by);
  const context: ExecuteContext = {
    signal: AbortSignal.any([stop, timeUp.signal]),
    user: turn.user,
    tenant: turn.tenant,
    toolCallId,
    log: logOf(parts, { ...aboutTurn(turn), toolCallId, toolName }),
    progress(given) {
      const progress = readProgress(given);
      if (progress) writer.note(progress);
    },
  };
  const outcome = await withinTime(run(), tool.timeoutMs);
  await writer.rest();
  // Code that was stopped may throw for that reason: then its effect is unknown.
  if (outcome === 'stopped' || (stop.aborted && typeof outcome === 'object' && outcome.kind === 'error'))
    return stopped();
  if (outcome !== 'time-out') return outcome;
  const { title: server } = tool;
  const trouble = { code: 'execute_timeout', server, seconds: tool.timeoutMs / 1000 } as const;
  timeUp.abort(new DOMException(troubleInWords(trouble), 'TimeoutError'));
  return { code: 'unknown_outcome', server, trouble };

  async function run(): Promise<ToolResult> {
    try {
      return resultOf(tool, await tool.execute(given, context));
    } catch (error) {
      return failureOf(tool.title, error);
    }
  }
}

/** `outcome`: used unless the result is one of the tool without an error. */
async function finish(
  parts: ApprovalParts,
  { input: { turn }, by, call }: PlainCall,
  result: ToolResult | CallFailure,
  outcome: ToolOutcome,
): Promise<AttemptResult> {
  await keepTrying(() => finishToolCall(parts, turn, call, result, { by, outcome }));
  return { kind: 'finished' };
}

function logOf({ logger }: ApprovalParts, about: object): ExecuteContext['log'] {
  const at = (level: LogLevel) => (message: string, details?: Record<string, unknown>) =>
    logger[level]({ ...about, details }, String(message));
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
