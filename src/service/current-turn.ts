/** The turn that a conversation is busy with, also before a worker has taken it up. */
import type { Storage } from '../storage/storage.ts';
import type { ConversationRef, TurnRef } from '../turn/turn.ts';
import { ownConversationIfAny } from './conversation-access.ts';
import { toOwnTurn } from './own-turn.ts';
import type { OwnTurn } from './own-turn.ts';
import type { Principal } from './principal.ts';

type Parts = Pick<Storage, 'turns' | 'conversations'>;

/** Null when the conversation is idle, or does not exist yet; another user's is refused. */
export async function currentTurn(
  storage: Parts,
  principal: Principal,
  conversation: string,
): Promise<OwnTurn | null> {
  const own = await ownConversationIfAny(storage, principal, conversation);
  const live = own && (await liveTurn(storage, own));
  return live && toOwnTurn(live);
}

/** There is at most one. */
export async function liveTurn(
  { turns, conversations }: Parts,
  ref: ConversationRef,
): Promise<TurnRef | null> {
  const running = await turns.live(ref);
  if (running) return running;
  const [starting] = await conversations.starting(ref);
  // It may have begun between the two reads.
  return starting ? { ...ref, turnId: starting.turnId } : turns.live(ref);
}
