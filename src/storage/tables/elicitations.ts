import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { ClosedBecause, Outcome, Status } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ConversationRef, TurnRef } from '../../turn/turn.ts';
import type { TooManyOpen } from '../../turn/ask.ts';
import type { AuditEntry, ElicitationRow } from '../schema/question-tables.ts';
import { compileOnce, isOneOf } from '../database.ts';
import type { Database } from '../database.ts';
import { unlessAborted } from '../notifications/notifications.ts';
import type { Tables } from '../schema.ts';
import { createAnswer, recordedAnswer } from './answering.ts';
import { toElicitation } from './elicitation-rows.ts';
import { answeredQuestionsOf } from './answered-questions.ts';
import type { AnsweredRow } from './answered-questions.ts';
import { followQuestionsOf, openQuestionsOf } from './open-questions.ts';
import { NotOpened, openQuestions } from './opening.ts';
import {
  advanced,
  announceSettled,
  lockQuestions,
  startingOver,
  stopWaiting,
  waitedForBy,
  writeSettled,
} from './settling.ts';
import type { Leaving } from './settling.ts';
import type { NewQuestion } from './elicitation-rows.ts';
import type { OpenLimits } from './opening.ts';
import type { AskedOf } from './open-questions.ts';
import type { Answer } from './answering.ts';

/** A question and the time until its deadline, by the database's clock. */
export interface TimedQuestion {
  question: ElicitationRow;
  /** 0 when it is settled, or the deadline has passed. */
  remainingMs: number;
}

export type OpenedQuestions =
  /** In the given order. Existing ones may be settled already. */
  | { kind: 'opened'; questions: TimedQuestion[] }
  /** For an account: it is connected in a newer version than the question's. Nothing was opened. */
  | { kind: 'already-connected'; version: number }
  /** The turn has ended, or the call is finished. Nothing was opened. */
  | { kind: 'over' }
  | { kind: TooManyOpen };

/** What settles questions, besides an answer and a connected account (see `Connections.establish`). */
export type SettlingEvent =
  /** Settles only questions whose deadline has passed by the database's clock. */
  | { type: 'deadline-passed' }
  | { type: 'expired-by-operator' }
  /** The server that asked is no longer listening. */
  | { type: 'withdrawn'; because: ClosedBecause }
  /** The question's page reports that it is done. */
  | { type: 'page-done' }
  /** The call that asks is given up. */
  | { type: 'abandoned' };

const selectThese = compileOnce((query, { ids }: { ids: string[] }) =>
  query
    .selectFrom('elicitations')
    .selectAll()
    .where(isOneOf(query, 'id', ids))
    .compile(),
);
const selectOfCall = compileOnce((query, { turnId, toolCallId }: { turnId: string; toolCallId: string }) =>
  query
    .selectFrom('elicitations')
    .innerJoin('question_waiters', 'question_waiters.elicitation_id', 'elicitations.id')
    .selectAll('elicitations')
    .where(({ and }) => and({ turn_id: turnId, tool_call_id: toolCallId }))
    .orderBy('created_at')
    .orderBy('id')
    .compile(),
);

type Asked = ConversationRef & { id: string };

interface SettleOptions {
  except?: string;
  audit?: AuditEntry;
}

export function createElicitations(database: Database, logger: Logger) {
  const { query, notifications, questions, now, timeIn } = database;

  /** Without a pending question, the time is not needed. */
  async function timed(rows: ElicitationRow[]): Promise<TimedQuestion[]> {
    const isAnyOpen = rows.some(({ status }) => status === 'pending');
    const time = isAnyOpen ? await timeIn(query) : 0;
    return rows.map((question) => withRemaining(question, time));
  }

  return {
    /**
     * Opens the questions of one call, all or none, with their events, in one transaction. If a question's `place` is taken,
     * the existing question gets this waiter too. Locks in the order of `settle`: connection, turn, questions, conversation.
     */
    async open(given: NewQuestion[], limits: OpenLimits): Promise<OpenedQuestions> {
      const opening = await query
        .transaction()
        .execute((write) => openQuestions(database, write, given, limits))
        .catch((error: unknown) => {
          if (error instanceof NotOpened) return error.why;
          throw error;
        });
      if (opening.kind !== 'opened') return opening;
      const { rows, opened, time } = opening;
      const [first] = opened;
      if (first) notifications.announce(first);
      for (const question of opened) questions.opened(question);
      return { kind: 'opened', questions: rows.map((row) => withRemaining(row, time)) };
    },
    /**
     * Records an answer and what follows from it by `advance` (elicitation/lifecycle.ts): answer, outcome, event, audit entry
     * and outbox mark in one transaction. While the question is pending, an answer is recorded even if it settles nothing; not
     * when the question is settled or its deadline has passed. `accept` settles a connection question whose account is
     * connected.
     */
    answer: createAnswer(database),
    /**
     * Applies the event to those of the questions that are pending, in one transaction. Returns all of them, in the given
     * order, as they are afterwards. `except`: a workflow that is not notified, because the caller's activity reports to it.
     */
    settle: (ids: string[], event: SettlingEvent, options?: SettleOptions): Promise<TimedQuestion[]> =>
      settle(database, ids, event, options),
    /** In the given order; unknown ids are left out. */
    async read(ids: string[]): Promise<TimedQuestion[]> {
      const { rows } = await selectThese(query, { ids });
      return timed(inOrder(ids, rows.map(toElicitation)));
    },
    get: (id: string): Promise<ElicitationRow | null> => find(query, id),
    /** The questions that this call has asked or shared in this turn, oldest first. */
    async ofCall({ turnId }: TurnRef, toolCallId: string): Promise<TimedQuestion[]> {
      const { rows } = await selectOfCall(query, { turnId, toolCallId });
      return timed(rows.map(toElicitation));
    },
    /** How the turn's last question about this account was settled, if not by `accept`; null: there is none. */
    async refusalOf({ turnId }: TurnRef, server: string): Promise<Exclude<Outcome, 'accept'> | null> {
      const row = await query
        .selectFrom('elicitations')
        .select('status')
        .where(({ and }) => and({ turn_id: turnId, server }))
        .where('status', 'not in', ['pending', 'accept'])
        .where('place', '!=', sql.ref<string>('id'))
        .orderBy('settled_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row ? (row.status as Exclude<Outcome, 'accept'>) : null;
    },
    /** A call or workflow stops waiting. A question without waiters is settled as `cancel`. */
    async leave({ turnId }: TurnRef, waiter: Leaving): Promise<void> {
      const settled = await startingOver(query, async (write, toLock, needs) => {
        const locked = await lockQuestions(write, toLock);
        needs(await waitedForBy(write, turnId, waiter));
        const at = now();
        return writeSettled(write, await stopWaiting(write, locked, waiter, at), { at });
      });
      announceSettled(database, settled);
    },
    /** Resolves with the question once it is settled by any process; null when `signal` aborts first. */
    untilSettled: (asked: Asked, signal: AbortSignal): Promise<ElicitationRow | null> =>
      untilSettled(database, asked, signal),
    async ofConversation(
      { tenant, conversation }: ConversationRef,
      status?: Status,
    ): Promise<ElicitationRow[]> {
      const rows = await query
        .selectFrom('elicitations')
        .selectAll()
        .where(({ and }) => and({ tenant, conversation }))
        .$if(status !== undefined, (some) => some.where('status', '=', status ?? 'pending'))
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      return rows.map(toElicitation);
    },
    /** The open questions of this user in all conversations, newest first; at most 100. */
    openOf: (asked: AskedOf): Promise<ElicitationRow[]> => openQuestionsOf(database, asked),
    /** What this user has accepted or declined, in all conversations, newest first; at most 50. */
    answeredBy: (asked: AskedOf): Promise<AnsweredRow[]> => answeredQuestionsOf(query, asked),
    /**
     * Each question to this user whenever its status changes: first the open ones, oldest first, possibly none; then others as
     * they are opened and settled, by any process. Ends only when `signal` aborts.
     */
    followOf: (asked: AskedOf, signal: AbortSignal): AsyncIterable<ElicitationRow[]> =>
      followQuestionsOf(database, asked, signal, logger),
    /** Null when there is none under this id. */
    recorded: (elicitationId: string, responseId: string): Promise<Answer | null> =>
      recordedAnswer(query, elicitationId, responseId),
  };
}

async function settle(
  database: Database,
  ids: string[],
  event: SettlingEvent,
  { except, audit }: SettleOptions = {},
): Promise<TimedQuestion[]> {
  const { query, now, timeIn } = database;
  if (ids.length === 0) return [];
  const { rows, time, settled } = await query.transaction().execute(async (write) => {
    const locked = await lockQuestions(write, ids);
    const time = locked.some(({ status }) => status === 'pending') ? await timeIn(write) : 0;
    const at = now();
    const isFor = ({ deadline }: ElicitationRow) => event.type !== 'deadline-passed' || deadline <= time;
    const rows = locked.map((row) => (isFor(row) ? advanced(row, event, at) : row));
    const changed = rows.filter((row, index) => row !== locked[index]);
    return { rows, time, settled: await writeSettled(write, changed, { at, except, audit }) };
  });
  announceSettled(database, settled);
  return inOrder(ids, rows).map((row) => withRemaining(row, time));
}

function withRemaining(question: ElicitationRow, time: number): TimedQuestion {
  const remainingMs = question.status === 'pending' ? Math.max(0, question.deadline - time) : 0;
  return { question, remainingMs };
}

function inOrder(ids: string[], rows: ElicitationRow[]): ElicitationRow[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

async function find(query: Kysely<Tables>, id: string): Promise<ElicitationRow | null> {
  const { rows } = await selectThese(query, { ids: [id] });
  return rows[0] ? toElicitation(rows[0]) : null;
}

async function untilSettled(
  { query, notifications }: Database,
  { id, ...conversation }: Asked,
  signal: AbortSignal,
): Promise<ElicitationRow | null> {
  const subscription = notifications.subscribe(conversation);
  try {
    while (!signal.aborted && !notifications.closed) {
      subscription.reset();
      const row = await find(query, id);
      if (row && row.status !== 'pending') return row;
      await unlessAborted(subscription.notified(), signal);
    }
    return null;
  } finally {
    subscription.close();
  }
}
