/**
 * Activities for calls of tools in TypeScript: permit them, and end those that no worker began, that were lost, or whose code
 * does not yield. They run on the workers of turns, so that they work when there is no worker for the tools.
 */
import { activityInfo, getClient } from '@temporalio/activity';
import { lostToolForModel, stuckToolForModel, unrunToolForModel } from '../../elicitation/wording.ts';
import { aboutTurn } from '../../telemetry/events.ts';
import type { AskingTurn } from '../../turn/ask.ts';
import type { DurableCallPermit, GivenApproval } from '../../turn/tool-call.ts';
import type { Turn } from '../../turn/turn.ts';
import { approvalOf } from '../approval.ts';
import type { ApprovalParts } from '../approval.ts';
import { questionsOfCall } from '../questions/questions.ts';
import { finishToolCall, requestedToolCall } from '../tool-results.ts';
import { endIfStuck, endUnbegun, wasStuck } from './stuck-tool.ts';

export interface DurableCallRef {
  turn: Turn;
  toolCallId: string;
}

export interface DurableCallToPermit {
  turn: AskingTurn;
  toolCallId: string;
  /** Once the user was asked. */
  approval?: GivenApproval;
}

export function createDurableCallActivities(parts: ApprovalParts) {
  const { storage, logger } = parts;
  return {
    /** Of a call that has to be approved: asks, and executed again, reads the answer. */
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
          await finishToolCall(parts, turn, call, approval.textForModel, { outcome: approval.outcome });
          return { kind: 'finished' };
        case 'over':
          return { kind: 'finished' };
        default:
          return approval satisfies never;
      }
    },

    /** Writes the result of a call whose workflow has ended without one. */
    async finishLostTool({ turn, toolCallId }: DurableCallRef): Promise<void> {
      const call = await requestedToolCall(storage, turn, toolCallId);
      const { state, toolName } = call;
      if (state === 'finished') return;
      const textFor =
        state === 'requested'
          ? unrunToolForModel
          : (await wasStuck(getClient(), workflowOf(toolCallId)))
            ? stuckToolForModel
            : lostToolForModel;
      await finishToolCall(parts, turn, call, textFor(toolName), {
        outcome: state === 'requested' ? 'failed' : 'unknown',
        isStopped: true,
      });
    },

    /** True when the call is over: no worker had begun it and none will, or its code did not yield and it was terminated. */
    async withdrawUnbegunTool({ turn, toolCallId }: DurableCallRef): Promise<boolean> {
      const call = await requestedToolCall(storage, turn, toolCallId);
      const { state, toolName } = call;
      switch (state) {
        case 'requested':
          await finishToolCall(parts, turn, call, unrunToolForModel(toolName), { isStopped: true });
          await endUnbegun(getClient(), workflowOf(toolCallId));
          return true;
        case 'finished':
          return false;
        default: {
          if (!(await endIfStuck(getClient(), workflowOf(toolCallId)))) return false;
          await finishToolCall(parts, turn, call, stuckToolForModel(toolName), {
            outcome: 'unknown',
            isStopped: true,
          });
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

/** The tool's workflow; its id begins with that of the agent's workflow, to which the running activity belongs. */
function workflowOf(toolCallId: string): string {
  return `${activityInfo().workflowExecution?.workflowId}/tool/${toolCallId}`;
}
