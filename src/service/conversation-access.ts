/** Whose conversation it is. Somebody else's looks exactly like one that does not exist. */
import type { ConversationRow } from '../storage/ports/conversations.ts';
import type { Storage } from '../storage/storage.ts';
import { ServiceError } from './service-error.ts';
import { isOwner } from './principal.ts';
import type { Principal } from './principal.ts';

type Parts = Pick<Storage, 'turns'>;

export function userOf(principal: Principal): string | null {
  return principal.kind === 'user' ? principal.user : null;
}

/** The conversation if it is the caller's own; otherwise a `conversation_not_found`. */
export async function ownConversation(
  storage: Parts,
  principal: Principal,
  conversation: string,
): Promise<ConversationRow> {
  const own = await ownConversationIfAny(storage, principal, conversation);
  if (own) return own;
  throw conversationNotFound();
}

/** The same, but null when the tenant has no conversation of this id. */
export async function ownConversationIfAny(
  { turns }: Parts,
  principal: Principal,
  conversation: string,
): Promise<ConversationRow | null> {
  const known = await turns.conversation({ tenant: principal.tenant, conversation });
  if (known && !isOwner(known, principal)) throw conversationNotFound();
  return known;
}

export function conversationNotFound(): ServiceError {
  return new ServiceError('conversation_not_found', 'You have no conversation with this id.');
}
