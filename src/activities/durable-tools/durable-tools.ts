/** What the workflow of a tool in TypeScript reads and writes. For the workers of tools, whose histories are sealed. */
import { activityInfo } from '@temporalio/activity';
import { notAsApprovedForModel } from '../../elicitation/approval-wording.ts';
import { unaskedForModel } from '../../elicitation/model-question.ts';
import { questionAsText } from '../../elicitation/question-as-text.ts';
import { unfinishedForModel } from '../../elicitation/wording.ts';
import type { Storage } from '../../storage/storage.ts';
import { traceFinishedTool } from '../../telemetry/traces/agent-spans.ts';
import type { ToolRequest } from '../../turn/ask.ts';
import type { GivenApproval } from '../../turn/tool-call.ts';
import type { ToolOutcome, ToolResult } from '../../turn/tool-result.ts';
import { isAsApproved } from '../approval.ts';
import type { ApprovalParts } from '../approval.ts';
import { createToolQuestionActivities } from '../questions/tool-question.ts';
import { finishToolCall, requestedToolCall } from '../tool-results.ts';
import type { DurableCallRef } from './durable-calls.ts';
import type { ToolProgressWriters } from './progress-writers.ts';

/** `stopped`: the call was cancelled, and had not come to a result of its own. */
export type DurableToolResult = ToolResult | { kind: 'stopped'; wasWaiting: boolean };

/** `over`: the call was withdrawn before it was begun, or is not what was approved. */
export type BegunTool = { kind: 'begun'; input: unknown } | { kind: 'over' };

interface BeginTool extends DurableCallRef {
  /** Where a person had to approve it. */
  approval?: GivenApproval;
}

interface FinishTool extends DurableCallRef {
  result: DurableToolResult;
  /** What the user could not be asked. */
  unasked: ToolRequest[];
}

interface Dependencies extends ApprovalParts {
  storage: ApprovalParts['storage'] & Pick<Storage, 'toolEffects'>;
  progress: Pick<ToolProgressWriters, 'rest'>;
}

export function createDurableToolActivities(parts: Dependencies) {
  const { storage, progress } = parts;
  return {
    ...createToolQuestionActivities(parts),

    async beginTool({ turn, toolCallId, approval }: BeginTool): Promise<BegunTool> {
      const { attempt } = activityInfo();
      const call = await requestedToolCall(storage, turn, toolCallId);
      if (approval && !(await isAsApproved(parts, { turn, call }, approval))) {
        await finishToolCall(parts, turn, call, notAsApprovedForModel(null), { outcome: 'not_allowed' });
        return { kind: 'over' };
      }
      const isStarted = await storage.toolCalls.start(turn, toolCallId, { execution: 0, attempt });
      const { state } = await requestedToolCall(storage, turn, toolCallId);
      // Started before: by an attempt of this whose worker died before it returned.
      return isStarted || state !== 'finished' ? { kind: 'begun', input: call.input } : { kind: 'over' };
    },

    async finishTool({ turn, toolCallId, result, unasked }: FinishTool): Promise<void> {
      await progress.rest(turn, toolCallId);
      const call = await requestedToolCall(storage, turn, toolCallId);
      const isStopped = result.kind === 'stopped';
      const written = isStopped ? stoppedResult(result) : result;
      const remark = unaskedForModel(unasked.map(unaskedAsText), turn.user !== null);
      const marked = remark === null ? written : { ...written, remark };
      await finishToolCall(parts, turn, call, marked, {
        outcome: isStopped ? stoppedOutcome(result) : 'tool_error',
        isStopped,
      });
      const isFailed =
        result.kind === 'error' || (result.kind === 'output' && result.output.isError === true);
      traceFinishedTool(parts, turn, { toolCallId, tool: call.toolName, isFailed });
      await storage.toolEffects.forgetResults(activityInfo().workflowExecution?.workflowId ?? '');
    },
  };
}

type StoppedTool = Extract<DurableToolResult, { kind: 'stopped' }>;

function stoppedResult({ wasWaiting }: StoppedTool): ToolResult {
  return { kind: 'error', text: unfinishedForModel('cancelled', wasWaiting ? 'paused' : 'started') };
}

function stoppedOutcome({ wasWaiting }: StoppedTool): ToolOutcome {
  return wasWaiting ? 'cancel' : 'stopped';
}

export type DurableToolActivities = ReturnType<typeof createDurableToolActivities>;

/** The address of a page belongs to a question that was never opened, so it leads nowhere. */
function unaskedAsText(request: ToolRequest): string {
  return request.mode === 'url' ? request.message : questionAsText(request);
}
