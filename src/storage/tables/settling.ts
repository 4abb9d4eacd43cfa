/**
 * How questions are settled. Every path locks the question's row, asks `advance`, and writes the result here: row, event,
 * audit entry, and an outbox mark for each waiting workflow.
 *
 * Transactions lock connections, turns, questions, calls and conversations in this order, several of a kind by their ids. A
 * transaction that learns which rows to lock by reading starts over when it finds more of them after locking.
 */
import type { ExpressionBuilder, Kysely, Transaction } from 'kysely';
import { advance, toLifecycle } from '@interlude-ai/core/elicitation/lifecycle.ts';
import type { LifecycleEvent } from '@interlude-ai/core/elicitation/lifecycle.ts';
import { compileOnce, isOneOf, isPostgres } from '../database.ts';
import type { Database } from '../database.ts';
import { writeToConversation } from '../log/append.ts';
import type { AuditEntry, ElicitationRow, Mark } from '../schema/question-tables.ts';
import type { Tables } from '../schema.ts';
import { insertAudit } from './audit.ts';
import { settledEvent, toElicitation } from './elicitation-rows.ts';
import { addSettledMarks } from './outbox.ts';

type Write = Transaction<Tables>;

/** What a transaction has settled, for `announceSettled` after its commit. */
export interface Settled {
  questions: ElicitationRow[];
  marks: Mark[];
}

export const nothingSettled: Settled = { questions: [], marks: [] };

const lockThese = compileOnce((write, { ids }: { ids: string[] }) =>
  write
    .selectFrom('elicitations')
    .selectAll()
    .where(isOneOf(write, 'id', ids))
    .orderBy('id')
    .$if(isPostgres(write), (row) => row.forNoKeyUpdate())
    .compile(),
);
const lockPendingOfTurn = compileOnce((write, { turnId }: { turnId: string }) =>
  write
    .selectFrom('elicitations')
    .selectAll()
    .where(({ and }) => and({ turn_id: turnId, status: 'pending' }))
    .orderBy('id')
    .$if(isPostgres(write), (row) => row.forNoKeyUpdate())
    .compile(),
);

/** Also accepted ones of unfinished calls, which the end of the turn may mark as unused. */
const lockLeftOpenOfTurn = compileOnce((write, { turnId }: { turnId: string }) =>
  write
    .selectFrom('elicitations')
    .selectAll()
    .where('turn_id', '=', turnId)
    .where((row) =>
      row.or([
        row('status', '=', 'pending'),
        row.and([
          row('status', '=', 'accept'),
          row.exists(
            row
              .selectFrom('question_waiters')
              .innerJoin('tool_calls', 'tool_calls.tool_call_id', 'question_waiters.tool_call_id')
              .select('state')
              .whereRef('question_waiters.elicitation_id', '=', 'elicitations.id')
              .where('tool_calls.turn_id', '=', turnId)
              .where('state', '!=', 'finished'),
          ),
        ]),
      ]),
    )
    .orderBy('id')
    .$if(isPostgres(write), (some) => some.forNoKeyUpdate())
    .compile(),
);

/** In the order of their ids. */
export async function lockQuestions(write: Write, ids: string[]): Promise<ElicitationRow[]> {
  if (ids.length === 0) return [];
  const { rows } = await lockThese(write, { ids });
  return rows.map(toElicitation);
}

export async function lockPendingOf(write: Write, turnId: string): Promise<ElicitationRow[]> {
  const { rows } = await lockPendingOfTurn(write, { turnId });
  return rows.map(toElicitation);
}

/** Locks what the end of a turn changes; returns the pending ones. */
export async function lockLeftOpen(write: Write, turnId: string): Promise<ElicitationRow[]> {
  const { rows } = await lockLeftOpenOfTurn(write, { turnId });
  return rows.filter(({ status }) => status === 'pending').map(toElicitation);
}

/** The question after the event; the same object if the event changes nothing. */
export function advanced(row: ElicitationRow, event: LifecycleEvent, at: number): ElicitationRow {
  if (row.status !== 'pending') return row;
  const before = toLifecycle(row);
  const { state } = advance(before, event);
  if (state === before.state) return row;
  if (state.kind === 'pending') return { ...row, consent: state.consent ?? null };
  const { outcome, responseId = null, because = null } = state;
  // Processes carry the database's clock forward, and may differ slightly.
  const settledAt = Math.max(at, row.createdAt);
  return { ...row, status: outcome, responseId, because, consent: null, settledAt };
}

interface Settling {
  at: number;
  /** A workflow that is not notified. */
  except?: string | undefined;
  /** The turn ends or is to end: no workflow is notified, because those that wait are cancelled with it. */
  isEnd?: boolean;
  audit?: AuditEntry | undefined;
}

/** Writes these settled questions, whose rows are locked and were pending. */
export async function writeSettled(
  write: Write,
  questions: ElicitationRow[],
  { at, except, isEnd = false, audit }: Settling,
): Promise<Settled> {
  if (questions.length === 0) return nothingSettled;
  await updateRows(write, questions);
  const ids = questions.map(({ id }) => id);
  const marks = isEnd ? [] : await addSettledMarks(write, ids, at, except);
  if (audit) await insertAudit(write, audit);
  for (const [first, ...others] of byTurn(questions)) {
    const events = [first, ...others].flatMap((row) => (row ? settledEvent(row) : []));
    if (first) await writeToConversation(write, first, { events, isEnd }, at);
  }
  return { questions, marks };
}

/** Call it after the commit. */
export function announceSettled(
  { notifications, questions: observer, outbox }: Database,
  { questions, marks }: Settled,
): void {
  for (const [first] of byTurn(questions)) if (first) notifications.announce(first);
  for (const question of questions) observer.settled(question);
  if (marks.length > 0) outbox(marks);
}

type Outcome = Pick<ElicitationRow, 'status' | 'responseId' | 'because' | 'settledAt'>;

const updateThese = compileOnce((write, rows: Outcome & { ids: string[] }) => {
  const { ids, status, responseId, because, settledAt } = rows;
  return write
    .updateTable('elicitations')
    .set({ status, response_id: responseId, because, settled_at: settledAt, consent: null })
    .where(isOneOf(write, 'id', ids))
    .compile();
});

/** One statement for questions with the same outcome. */
async function updateRows(write: Write, questions: ElicitationRow[]): Promise<void> {
  const alike = Map.groupBy(questions, ({ status, responseId, because }) =>
    JSON.stringify([status, responseId, because]),
  );
  for (const rows of alike.values()) {
    const [first] = rows;
    if (first) await updateThese(write, { ...first, ids: rows.map(({ id }) => id) });
  }
}

/** In the order in which conversations are locked. */
function byTurn(questions: ElicitationRow[]): ElicitationRow[][] {
  const turns = Map.groupBy(questions, ({ tenant, conversation, turnId }) =>
    JSON.stringify([tenant, conversation, turnId]),
  );
  return [...turns].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, rows]) => rows);
}

/** Rolls the transaction back; it is repeated, and locks these questions first. */
export class StartOver extends Error {
  override name = 'StartOver';
  readonly ids: string[];

  constructor(ids: string[] = []) {
    super('The transaction has found more rows to lock and starts over.');
    this.ids = ids;
  }
}

/** More than once only if questions open meanwhile. */
const mostTimes = 20;

/**
 * `work` gets the ids of questions that it has to lock first, none at first. It calls `needs` with those that it finds later;
 * if some are not locked yet, it is repeated.
 */
export async function startingOver<T>(
  query: Kysely<Tables>,
  work: (write: Write, toLock: string[], needs: (ids: string[]) => void) => Promise<T>,
): Promise<T> {
  let toLock: string[] = [];
  for (let time = 1; ; time += 1) {
    const needs = (ids: string[]) => {
      if (ids.some((id) => !toLock.includes(id))) throw new StartOver(ids);
    };
    try {
      return await query.transaction().execute((write) => work(write, toLock, needs));
    } catch (error) {
      if (!(error instanceof StartOver) || time === mostTimes) throw error;
      toLock = error.ids;
    }
  }
}

/** A call or a workflow. */
export type Leaving = { toolCallId: string } | { workflowId: string };

/** For `where` on the table of waiters. */
function isLeaving(leaving: Leaving) {
  return (row: ExpressionBuilder<Tables, 'question_waiters'>) =>
    'toolCallId' in leaving
      ? row('tool_call_id', '=', leaving.toolCallId)
      : row('question_waiters.workflow_id', '=', leaving.workflowId);
}

/** The pending questions that this call or workflow waits for. */
export async function waitedForBy(write: Write, turnId: string, leaving: Leaving): Promise<string[]> {
  const rows = await write
    .selectFrom('question_waiters')
    .innerJoin('elicitations', 'elicitations.id', 'question_waiters.elicitation_id')
    .select('elicitations.id')
    .where(({ and }) => and({ 'elicitations.turn_id': turnId, 'elicitations.status': 'pending' }))
    .where(isLeaving(leaving))
    .execute();
  return rows.map(({ id }) => id);
}

/** Removes the waiter from these questions, whose rows are locked. Returns those without other waiters, settled. */
export async function stopWaiting(
  write: Write,
  questions: ElicitationRow[],
  leaving: Leaving,
  at: number,
): Promise<ElicitationRow[]> {
  const pending = questions.filter(({ status }) => status === 'pending');
  if (pending.length === 0) return [];
  const ids = pending.map(({ id }) => id);
  await write
    .deleteFrom('question_waiters')
    .where('elicitation_id', 'in', ids)
    .where(isLeaving(leaving))
    .execute();
  const left = await write
    .selectFrom('question_waiters')
    .select('elicitation_id')
    .where('elicitation_id', 'in', ids)
    .execute();
  const waitedFor = new Set(left.map((row) => row.elicitation_id));
  return pending.filter(({ id }) => !waitedFor.has(id)).map((row) => advanced(row, withdrawalOf(row), at));
}

const serverTriggers = new Set(['mcp_elicitation', 'a2a_input_required', 'a2a_auth_required']);

/** A server that asked gets no answer. */
function withdrawalOf({ request }: ElicitationRow): LifecycleEvent {
  return serverTriggers.has(request.context.trigger)
    ? { type: 'withdrawn', because: 'server_gone' }
    : { type: 'abandoned' };
}
