/** Whose conversation it is. Somebody else's looks exactly like one that does not exist. */
import type { ConversationRow } from '../storage/ports/conversations.ts';
import { ServiceError } from './service-error.ts';
import type { Principal } from './principal.ts';

export function userOf(principal: Principal): string | null {
  return principal.kind === 'user' ? principal.user : null;
}

export function isOwner(conversation: ConversationRow, principal: Principal): boolean {
  return conversation.tenant === principal.tenant && conversation.user === userOf(principal);
}

/** The conversation if it is the caller's own; otherwise a `conversation_not_found`. */
export function requireOwn(conversation: ConversationRow | null, principal: Principal): ConversationRow {
  if (conversation && isOwner(conversation, principal)) return conversation;
  throw conversationNotFound();
}

export function conversationNotFound(): ServiceError {
  return new ServiceError('conversation_not_found', 'You have no conversation with this id.');
}
