/** Questions, to the person they were put to: those of a conversation, or one by its id. */
import { toElicitationEvent } from '../elicitation/elicitation-event.ts';
import type { ElicitationEvent, Status } from '../elicitation/elicitation.ts';
import type { ElicitationRow } from '../storage/ports/elicitations.ts';
import type { Storage } from '../storage/storage.ts';
import { ownConversation, userOf } from './conversation-access.ts';
import { toOwnTurn } from './own-turn.ts';
import type { OwnTurn } from './own-turn.ts';
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

/** A question with the turn that asked it. */
export interface FoundQuestion {
  turn: OwnTurn;
  question: ElicitationEvent;
}

/** Whatever has become of it; null when the caller was not asked any such question. */
export async function findQuestion(
  { elicitations }: Pick<Storage, 'elicitations'>,
  principal: Principal,
  elicitationId: string,
): Promise<FoundQuestion | null> {
  const row = await elicitations.get(elicitationId);
  if (!row || row.tenant !== principal.tenant || row.user !== userOf(principal)) return null;
  return { turn: toOwnTurn(row), question: toElicitationEvent(row) };
}
