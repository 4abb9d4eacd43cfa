/** The questions of a conversation, to its owner. */
import type { Status } from '../elicitation/elicitation.ts';
import type { ElicitationRow } from '../storage/ports/elicitations.ts';
import type { Storage } from '../storage/storage.ts';
import { ownConversation } from './conversation-access.ts';
import type { Principal } from './principal.ts';

/** Oldest first; all of them, or those of one status, or of one turn. */
export async function listQuestions(
  storage: Pick<Storage, 'elicitations' | 'turns'>,
  principal: Principal,
  conversation: string,
  { status, turnId }: { status?: Status | undefined; turnId?: string } = {},
): Promise<ElicitationRow[]> {
  const own = await ownConversation(storage, principal, conversation);
  const rows = await storage.elicitations.ofConversation(own, status);
  return turnId === undefined ? rows : rows.filter((row) => row.turnId === turnId);
}
