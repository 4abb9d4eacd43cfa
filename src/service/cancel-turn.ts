/** Asking the live turn of a conversation to stop. Only its owner may, and asking again is harmless. */
import type { Storage } from '../storage/storage.ts';
import { requireOwn } from './conversation-access.ts';
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
  conversation: string,
): Promise<Cancelled> {
  const ref = { tenant: principal.tenant, conversation };
  requireOwn(await storage.turns.conversation(ref), principal);
  return workflows.cancel(ref);
}
