/**
 * Activities for calls of tools in TypeScript: permit them, and end those that no worker began, that were lost, or whose
 * code never yields. They run on the workers of turns, so that they work even without a worker for the tools.
 *
 * Code that never yields, such as an endless loop: the worker aborts the workflow task after some seconds, and Temporal
 * hands it out again and again. The failed task in the history and the number of attempts show it. Code that fills the
 * memory first kills the worker's thread or process; then the task times out.
 */
import { activityInfo, getClient } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import { aboutTurn } from '../../platform/telemetry/events.ts';
import type { AskingTurn } from '../../turn/ask.ts';
import type { DurableCallPermit, GivenApproval } from '../../turn/step.ts';
import type { Turn } from '../../turn/turn.ts';
import { approvalOf } from '../approval.ts';
import type { ApprovalParts } from '../approval.ts';
import { questionsOfCall } from '../questions.ts';
import { finishToolCall, requestedToolCall } from '../tool-results.ts';

export interface DurableCallRef {
  turn: Turn;
  toolCallId: string;
}

interface DurableCallToPermit {
  turn: AskingTurn;
  toolCallId: string;
  /** Once the user was asked. */
  approval?: GivenApproval;
}

export function createDurableCallActivities(parts: ApprovalParts) {
  const { storage, logger } = parts;
  return {
    /** Asks for the approval that the call needs. Executed again, it reads the answer. */
    async permitDurableCall(input: DurableCallToPermit): Promise<DurableCallPermit> {
      const { turn, toolCallId } = input;
      const [call, questions] = await Promise.all([
        requestedToolCall(storage, turn, toolCallId),
        questionsOfCall(parts, turn, toolCallId),
      ]);
      if (call.state === 'finished') return { kind: 'finished' };
      const approval = await approvalOf(parts, { turn, call }, questions, input.approval);
      switch (approval.kind) {
        case 'approved':
          return { kind: 'permitted' };
        case 'asks':
          return approval;
        case 'refused':
          await finishToolCall(parts, turn, call, approval.failure, { outcome: approval.outcome });
          return { kind: 'finished' };
        case 'over':
          return { kind: 'finished' };
        default:
          return approval satisfies never;
      }
    },

    /** Writes the result of a call whose workflow ended without one. */
    async finishLostTool({ turn, toolCallId }: DurableCallRef): Promise<void> {
      const call = await requestedToolCall(storage, turn, toolCallId);
      const { state, toolName } = call;
      if (state === 'finished') return;
      const code =
        state === 'requested'
          ? 'tool_not_run'
          : (await wasStuck(getClient(), workflowOf(toolCallId)))
            ? 'tool_stuck'
            : 'tool_lost';
      const failure = { code, tool: toolName } as const;
      const outcome = state === 'requested' ? 'failed' : 'unknown';
      await finishToolCall(parts, turn, call, failure, { outcome, isStopped: true });
    },

    /** True if the call is over: no worker had begun it and none will, or its code never yields and it was terminated. */
    async withdrawUnbegunTool({ turn, toolCallId }: DurableCallRef): Promise<boolean> {
      const call = await requestedToolCall(storage, turn, toolCallId);
      const { state, toolName } = call;
      switch (state) {
        case 'requested': {
          const notRun = { code: 'tool_not_run', tool: toolName } as const;
          await finishToolCall(parts, turn, call, notRun, { isStopped: true });
          await endUnbegun(getClient(), workflowOf(toolCallId));
          return true;
        }
        case 'finished':
          return false;
        default: {
          if (!(await endIfStuck(getClient(), workflowOf(toolCallId)))) return false;
          const stuck = { code: 'tool_stuck', tool: toolName } as const;
          await finishToolCall(parts, turn, call, stuck, { outcome: 'unknown', isStopped: true });
          logger.error(
            { ...aboutTurn(turn), toolCallId, toolName },
            'a tool was ended, because its code ran for seconds without waiting for anything: look for an endless loop',
          );
          return true;
        }
      }
    },
  };
}

/** The id of the tool's workflow begins with that of the agent's workflow, to which this activity belongs. */
function workflowOf(toolCallId: string): string {
  return `${activityInfo().workflowExecution?.workflowId}/tool/${toolCallId}`;
}

/** The reason of the termination, as the history contains it. */
const reason = 'its code does not give control back';

/** On a slow machine, a task may be aborted that would have finished. */
const mostAttempts = 3;
/** A task may be lost because another one killed the worker, but hardly this often in a row. */
const mostLost = 5;

/** Terminates the workflow if it is stuck, and returns whether it was. Idempotent. */
export async function endIfStuck(client: Client, workflowId: string): Promise<boolean> {
  const handle = client.workflow.getHandle(workflowId);
  const { raw, runId } = await handle.describe();
  const attempt = raw.pendingWorkflowTask?.attempt ?? 0;
  if (attempt < mostAttempts) return false;
  const events = await lastEvents(client, { workflowId, runId }, 5);
  // Error messages of Node and the SDK. A task may fail for other reasons, which an operator can fix.
  const failedWith = (words: string) =>
    events.some(({ workflowTaskFailedEventAttributes: failed }) => failed?.failure?.message?.includes(words));
  const isLost =
    failedWith('Workflow Worker Thread exited') ||
    events.some(({ workflowTaskTimedOutEventAttributes: timeout }) => timeout != null);
  if (!failedWith('Script execution timed out') && !(isLost && attempt >= mostLost)) return false;
  await handle.terminate(reason);
  return true;
}

/** Terminates a workflow that no worker began. It may have ended meanwhile. */
async function endUnbegun(client: Client, workflowId: string): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId).terminate('no worker has begun it');
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/** Whether `endIfStuck` ended this workflow. */
async function wasStuck(client: Client, workflowId: string): Promise<boolean> {
  const [last] = await lastEvents(client, { workflowId }, 1);
  return last?.workflowExecutionTerminatedEventAttributes?.reason === reason;
}

async function lastEvents(
  client: Client,
  execution: { workflowId: string; runId?: string },
  maximumPageSize: number,
) {
  const { namespace } = client.options;
  const request = { namespace, execution, maximumPageSize };
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse(request);
  return history?.events ?? [];
}
