/** The questions of a conversation, to its owner. */
import type { Status } from '../elicitation/elicitation.ts';
import type { ElicitationRow } from '../storage/ports/elicitations.ts';
import type { Storage } from '../storage/storage.ts';
import { requireOwn } from './conversation-access.ts';
import type { Principal } from './principal.ts';

/** Oldest first; all of them, or those of one status. */
export async function listQuestions(
  { elicitations, turns }: Pick<Storage, 'elicitations' | 'turns'>,
  principal: Principal,
  conversation: string,
  status?: Status,
): Promise<ElicitationRow[]> {
  const ref = { tenant: principal.tenant, conversation };
  requireOwn(await turns.conversation(ref), principal);
  return elicitations.ofConversation(ref, status);
}
