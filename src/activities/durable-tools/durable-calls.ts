/** Ends calls of tools in TypeScript that nobody runs, or runs any more. For the workers of turns. */
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

    /** Its workflow has ended without a result of its own. */
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

    /** True: no worker has begun it, and none will; or its code does not give control back, and it was ended. */
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
            'a tool was ended, because its code ran for seconds on end without waiting for anything: look for an endless loop',
          );
          return true;
        }
      }
    },
  };
}

/** Under the agent's, whose activity asks. */
function workflowOf(toolCallId: string): string {
  return `${activityInfo().workflowExecution?.workflowId}/tool/${toolCallId}`;
}

export type DurableCallActivities = ReturnType<typeof createDurableCallActivities>;
