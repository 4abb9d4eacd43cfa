/** Questions, to the person they were put to: those of a conversation, those that wait for them anywhere, or one by its id. */
import type { Config } from '../config/config.ts';
import { answerAddress } from '../elicitation/account-pages.ts';
import { toElicitationEvent } from '../elicitation/elicitation-event.ts';
import type {
  ClosedBecause,
  ElicitationEvent,
  ElicitationRequest,
  Status,
} from '../elicitation/elicitation.ts';
import type { ElicitationRow } from '../storage/ports/elicitations.ts';
import type { Storage } from '../storage/storage.ts';
import { ownConversation, userOf } from './conversation-access.ts';
import { toOwnTurn } from './own-turn.ts';
import type { OwnTurn } from './own-turn.ts';
import type { Principal } from './principal.ts';
import { ServiceError } from './service-error.ts';

/** A question as its owner sees it. Times are epoch milliseconds. */
export interface Question {
  id: string;
  conversation: string;
  turnId: string;
  /** The agent that asks, which may be a delegated one. */
  agent: string;
  request: ElicitationRequest;
  status: Status;
  createdAt: number;
  /** When it expires, if nobody answers. */
  deadline: number;
  settledAt: number | null;
  because: ClosedBecause | null;
}

/** Oldest first; all of them, or those of one status, or of one turn. */
export async function listQuestions(
  storage: Pick<Storage, 'elicitations' | 'turns'>,
  principal: Principal,
  conversation: string,
  { status, turnId }: { status?: Status | undefined; turnId?: string } = {},
): Promise<Question[]> {
  const own = await ownConversation(storage, principal, conversation);
  const rows = await storage.elicitations.ofConversation(own, status);
  return rows.filter((row) => turnId === undefined || row.turnId === turnId).map(toQuestion);
}

/** A question with the turn that asked it. */
export interface FoundQuestion {
  turn: OwnTurn;
  /** `page`: where the person can answer it, signed in. */
  question: ElicitationEvent & { page: string };
}

/** Whatever has become of it; null when the caller was not asked any such question. */
export async function findQuestion(
  {
    storage: { elicitations },
    config,
  }: { storage: Pick<Storage, 'elicitations'>; config: Pick<Config, 'http'> },
  principal: Principal,
  elicitationId: string,
): Promise<FoundQuestion | null> {
  const row = await elicitations.get(elicitationId);
  if (!row || row.tenant !== principal.tenant || row.user !== userOf(principal)) return null;
  const page = answerAddress(config.http.publicUrl, elicitationId);
  return { turn: toOwnTurn(row), question: { ...toElicitationEvent(row), page } };
}

/** A question as the page about it finds it. */
export type AskedQuestion =
  | { kind: 'unknown' }
  /** `tenant`: of the person who was asked. */
  | { kind: 'somebody-elses'; tenant: string }
  | { kind: 'own'; question: Question; isAboutAccount: boolean };

export async function askedQuestion(
  { elicitations }: Pick<Storage, 'elicitations'>,
  principal: Principal,
  elicitationId: string,
): Promise<AskedQuestion> {
  const row = await elicitations.get(elicitationId);
  if (!row) return { kind: 'unknown' };
  const { tenant, user } = row;
  if (tenant !== principal.tenant || user !== userOf(principal)) return { kind: 'somebody-elses', tenant };
  return { kind: 'own', question: toQuestion(row), isAboutAccount: row.server !== null };
}

/** Those that wait for the caller and can still be answered, newest first; at most 100. A service is never asked. */
export async function questionsOf(
  { elicitations }: Pick<Storage, 'elicitations'>,
  principal: Principal,
): Promise<Question[]> {
  const user = userOf(principal);
  if (user === null) return [];
  return (await elicitations.openOf({ tenant: principal.tenant, user })).map(toQuestion);
}

/**
 * Each question to the caller whenever its status changes: first those that are open now, oldest first, possibly none. Ends
 * only when `signal` aborts. A question that opens and closes within moments may not be told. Refused to a service, which
 * is never asked.
 */
export async function* followQuestions(
  { elicitations }: Pick<Storage, 'elicitations'>,
  principal: Principal,
  signal: AbortSignal,
): AsyncGenerator<Question[]> {
  const user = userOf(principal);
  if (user === null)
    throw new ServiceError(
      'forbidden',
      'A service is never asked. Send the token of the user whose questions you follow.',
    );
  for await (const rows of elicitations.followOf({ tenant: principal.tenant, user }, signal))
    yield rows.map(toQuestion);
}

function toQuestion(row: ElicitationRow): Question {
  const { id, conversation, turnId, agent, request, status, createdAt, deadline, settledAt, because } = row;
  return { id, conversation, turnId, agent, request, status, createdAt, deadline, settledAt, because };
}
