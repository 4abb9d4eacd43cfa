/**
 * Activities for calls of tools in TypeScript: permit them, and end those that no worker began, that were lost, or whose code
 * does not yield. They run on the workers of turns, so that they work when there is no worker for the tools.
 */
import { activityInfo, getClient } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { lostToolForModel, stuckToolForModel, unrunToolForModel } from '../../elicitation/wording.ts';
import type { Storage } from '../../storage/storage.ts';
import type { DurableCallPermit } from '../../turn/tool-call.ts';
import type { Turn } from '../../turn/turn.ts';
import { finishToolCall, requestedToolCall } from '../tool-results.ts';
import { permitCall } from './approval.ts';
import { endIfStuck, endUnbegun, wasStuck } from './stuck-tool.ts';

export interface DurableCallRef {
  turn: Turn;
  toolCallId: string;
}

interface Dependencies {
  storage: Pick<Storage, 'toolCalls' | 'approvals'>;
  keys: KeyRing;
  logger: Pick<Logger, 'error'>;
}

export function createDurableCallActivities(parts: Dependencies) {
  const { storage, logger } = parts;
  return {
    async permitDurableCall({ turn, toolCallId }: DurableCallRef): Promise<DurableCallPermit> {
      return permitCall(parts, turn, await requestedToolCall(storage, turn, toolCallId));
    },

    /** Writes the result of a call whose workflow has ended without one. */
    async finishLostTool({ turn, toolCallId }: DurableCallRef): Promise<void> {
      const call = await requestedToolCall(storage, turn, toolCallId);
      const { state, toolName } = call;
      if (state === 'finished') return;
      const words =
        state === 'requested'
          ? unrunToolForModel
          : (await wasStuck(getClient(), workflowOf(toolCallId)))
            ? stuckToolForModel
            : lostToolForModel;
      await finishToolCall(storage, turn, call, { kind: 'error', text: words(toolName) });
    },

    /** True when the call is over: no worker had begun it and none will, or its code did not yield and it was terminated. */
    async withdrawUnbegunTool({ turn, toolCallId }: DurableCallRef): Promise<boolean> {
      const call = await requestedToolCall(storage, turn, toolCallId);
      const { state, toolName } = call;
      switch (state) {
        case 'requested':
          await finishToolCall(storage, turn, call, { kind: 'error', text: unrunToolForModel(toolName) });
          await endUnbegun(getClient(), workflowOf(toolCallId));
          return true;
        case 'finished':
          return false;
        default: {
          if (!(await endIfStuck(getClient(), workflowOf(toolCallId)))) return false;
          await finishToolCall(storage, turn, call, { kind: 'error', text: stuckToolForModel(toolName) });
          logger.error(
            { turnId: turn.turnId, toolCallId, tool: toolName },
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

export type DurableCallActivities = ReturnType<typeof createDurableCallActivities>;
