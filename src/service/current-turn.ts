/** The turn that a conversation is busy with, also before a worker has taken it up. */
import type { Storage } from '../storage/storage.ts';
import { ownConversationIfAny } from './conversation-access.ts';
import { toOwnTurn } from './own-turn.ts';
import type { OwnTurn } from './own-turn.ts';
import type { Principal } from './principal.ts';
import type { TurnWorkflows } from './turn-workflows.ts';

interface Parts {
  storage: Pick<Storage, 'turns'>;
  workflows: Pick<TurnWorkflows, 'current'>;
}

/** Null when the conversation is idle, or does not exist yet; somebody else's is refused. */
export async function currentTurn(
  { storage, workflows }: Parts,
  principal: Principal,
  conversation: string,
): Promise<OwnTurn | null> {
  const own = await ownConversationIfAny(storage, principal, conversation);
  if (!own) return null;
  const turnId = await workflows.current(own);
  return turnId === null ? null : toOwnTurn({ ...own, turnId });
}
