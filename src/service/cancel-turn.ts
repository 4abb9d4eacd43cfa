/** Asking the live turn of a conversation to stop, or a turn if it is the live one. Only its owner may, and asking again is harmless. */
import type { Storage } from '../storage/storage.ts';
import { ownConversation } from './conversation-access.ts';
import type { Principal } from './principal.ts';
import type { TurnWorkflows } from './turn-workflows.ts';

/** `cancelling`: the turn was asked to stop and has not ended yet. */
export interface Cancelled {
  status: 'cancelling' | 'idle';
  turnId?: string;
}

interface Parts {
  storage: Pick<Storage, 'turns'>;
  workflows: Pick<TurnWorkflows, 'cancel'>;
}

export async function cancelTurn(
  { storage, workflows }: Parts,
  principal: Principal,
  { conversation, turnId }: { conversation: string; turnId?: string },
): Promise<Cancelled> {
  return workflows.cancel(await ownConversation(storage, principal, conversation), turnId);
}
