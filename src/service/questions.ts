/** Questions, for the person who was asked: those of a conversation, all open ones, or one by its id. */
import type { Config } from '../platform/config/config.ts';
import { answerAddress } from '@interlude-ai/core/elicitation/account-pages.ts';
import { toElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type {
  ClosedBecause,
  ElicitationEvent,
  ElicitationRequest,
  Status,
} from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ElicitationRow } from '../storage/schema/question-tables.ts';
import type { ToolOutcome } from '../turn/event.ts';
import type { Storage } from '../storage/storage.ts';
import { ownConversation, toOwnTurn } from './own-turn.ts';
import { userOf } from './principal.ts';
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
  /** When it expires. */
  deadline: number;
  settledAt: number | null;
  because: ClosedBecause | null;
}

/** Oldest first; optionally those of one status, or of one turn. */
export async function listQuestions(
  storage: Storage,
  principal: Principal,
  conversation: string,
  { status, turnId }: { status?: Status | undefined; turnId?: string } = {},
): Promise<Question[]> {
  const own = await ownConversation(storage, principal, conversation);
  const rows = await storage.elicitations.ofConversation(own, status);
  return rows.filter((row) => turnId === undefined || row.turnId === turnId).map(toQuestion);
}

/** A question and the turn that asked it. */
export interface FoundQuestion {
  turn: OwnTurn;
  /** `page`: where the person can answer it, signed in. */
  question: ElicitationEvent & { page: string };
}

/** In any state; null when the caller was not asked such a question. */
export async function findQuestion(
  { storage: { elicitations }, config }: { storage: Storage; config: Pick<Config, 'http'> },
  principal: Principal,
  elicitationId: string,
): Promise<FoundQuestion | null> {
  const row = await elicitations.get(elicitationId);
  if (!row || row.tenant !== principal.tenant || row.user !== userOf(principal)) return null;
  const page = answerAddress(config.http.publicUrl, elicitationId);
  return { turn: toOwnTurn(row), question: { ...toElicitationEvent(row), page } };
}

/** A question, as its page needs it: another user's is distinguished from an unknown one. */
export type AskedQuestion =
  | { kind: 'unknown' }
  /** `tenant`: of the user who was asked. */
  | { kind: 'not-yours'; tenant: string }
  | { kind: 'own'; question: Question; isAboutAccount: boolean };

export async function askedQuestion(
  { elicitations }: Storage,
  principal: Principal,
  elicitationId: string,
): Promise<AskedQuestion> {
  const row = await elicitations.get(elicitationId);
  if (!row) return { kind: 'unknown' };
  const { tenant, user } = row;
  if (tenant !== principal.tenant || user !== userOf(principal)) return { kind: 'not-yours', tenant };
  return { kind: 'own', question: toQuestion(row), isAboutAccount: row.server !== null };
}

/** The caller's open questions, newest first; at most 100. A service is never asked. */
export async function questionsOf({ elicitations }: Storage, principal: Principal): Promise<Question[]> {
  const user = userOf(principal);
  if (user === null) return [];
  return (await elicitations.openOf({ tenant: principal.tenant, user })).map(toQuestion);
}

/** A question that was answered, and what came of it. */
export interface AnsweredQuestion extends Question {
  /** How the call ended that asked; null: there is no call, or it is not known any more. */
  end: ToolOutcome | 'running' | null;
}

/** What the caller has accepted or declined, newest first; at most 50. */
export async function answeredBy(
  { elicitations }: Storage,
  principal: Principal,
): Promise<AnsweredQuestion[]> {
  const user = userOf(principal);
  if (user === null) return [];
  const rows = await elicitations.answeredBy({ tenant: principal.tenant, user });
  return rows.map(({ question, end }) => ({ ...toQuestion(question), end }));
}

/**
 * Each question to the caller whenever its status changes: first the open ones, oldest first, possibly none. Ends only when
 * `signal` aborts. A question that opens and closes within moments may be left out. Refused to a service, which is never
 * asked.
 */
export async function* followQuestions(
  { elicitations }: Storage,
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

export function toQuestion(row: ElicitationRow): Question {
  const { id, conversation, turnId, agent, request, status, createdAt, deadline, settledAt, because } = row;
  return { id, conversation, turnId, agent, request, status, createdAt, deadline, settledAt, because };
}
