/** Ends calls of tools in TypeScript that nobody runs, or runs any more. For the workers of turns. */
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { lostToolForModel, unrunToolForModel } from '../../elicitation/wording.ts';
import type { Storage } from '../../storage/storage.ts';
import type { DurableCallPermit } from '../../turn/tool-call.ts';
import type { Turn } from '../../turn/turn.ts';
import { finishToolCall, requestedToolCall } from '../tool-results.ts';
import { permitCall } from './approval.ts';

export interface DurableCallRef {
  turn: Turn;
  toolCallId: string;
}

interface Dependencies {
  storage: Pick<Storage, 'toolCalls' | 'approvals'>;
  keys: KeyRing;
}

export function createDurableCallActivities(parts: Dependencies) {
  const { storage } = parts;
  return {
    async permitDurableCall({ turn, toolCallId }: DurableCallRef): Promise<DurableCallPermit> {
      return permitCall(parts, turn, await requestedToolCall(storage, turn, toolCallId));
    },

    /** Its workflow has ended without a result of its own. */
    async finishLostTool({ turn, toolCallId }: DurableCallRef): Promise<void> {
      const call = await requestedToolCall(storage, turn, toolCallId);
      const words = call.state === 'requested' ? unrunToolForModel : lostToolForModel;
      await finishToolCall(storage, turn, call, { kind: 'error', text: words(call.toolName) });
    },

    /** True: no worker has begun it, and none will. */
    async withdrawUnbegunTool({ turn, toolCallId }: DurableCallRef): Promise<boolean> {
      const call = await requestedToolCall(storage, turn, toolCallId);
      if (call.state !== 'requested') return false;
      await finishToolCall(storage, turn, call, { kind: 'error', text: unrunToolForModel(call.toolName) });
      return true;
    },
  };
}

export type DurableCallActivities = ReturnType<typeof createDurableCallActivities>;
