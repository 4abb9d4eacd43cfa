/**
 * How turns end. Everything that belongs to a turn is closed with it. Locks turns, questions, tool calls and the
 * conversation, in this order (see settling.ts).
 */
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { TurnEndStatus, TurnRef, Usage } from '../../turn/turn.ts';
import { compileOnce } from '../database.ts';
import { writeToConversation, fromColumn } from '../log/append.ts';
import type { Additions, NewEvent } from '../log/append.ts';
import { dueAfter, usageOf } from './turn-rows.ts';
import type { Mark, ElicitationRow, AuditEntry } from '../schema/question-tables.ts';
import type { Tables } from '../schema.ts';
import { deleteRows, updateRows } from '../statements.ts';
import { addTurnMark } from './outbox.ts';
import { advanced, lockLeftOpen, lockPendingOf, writeSettled } from './settling.ts';
import type { Settled } from './settling.ts';
import { markUnused, unusedAnswers } from './superseding.ts';
import type { LockedCall } from './superseding.ts';
import { toToolCall } from './tool-calls.ts';
import type { StoredMessage, ToolCallRow } from '../schema/turn-tables.ts';
import type { CallResult } from './tool-calls.ts';

export interface Ended {
  /** `cancelled` if a turn that was asked to stop was to end as `completed`. */
  status: TurnEndStatus;
  startedAt: number;
  /** Those that the end has closed. */
  questions: ElicitationRow[];
}

/** What is written at the end of a turn, in this order. */
export interface Ending {
  /** The result of an unfinished call, also of delegated agents. */
  resultOf?(call: ToolCallRow): CallResult;
  messages?: Omit<StoredMessage, 'turnId'>[];
  events?: NewEvent[];
  /** The turn's own workflow ends it, so its cancellation is not queued. */
  isOwn?: boolean;
  /** Written with the end. */
  audit?: AuditEntry | undefined;
  /** Abandoning its calls is not queued, because a copy of this installation may still be making them. */
  keepsCalls?: boolean;
}

type Write = Transaction<Tables>;

const updateEnded = compileOnce(
  (write, turn: { turnId: string; status: TurnEndStatus; now: number; due_at: number }) =>
    write
      .updateTable('turns')
      .set(({ val, case: when }) => ({
        // The row was marked as ending before the workflow knew.
        status: when()
          .when(sql<boolean>`ending_at is not null and ${val(turn.status)} = 'completed'`)
          .then<TurnEndStatus>('cancelled')
          .else(val(turn.status))
          .end(),
        ended_at: turn.now,
        staged: null,
        due_at: turn.due_at,
      }))
      .where(({ and }) => and({ turn_id: turn.turnId, status: 'running' }))
      .returning(['created_at', 'status'])
      .compile(),
);
const updateEnding = compileOnce((write, { turnId, now }: { turnId: string; now: number }) =>
  write
    .updateTable('turns')
    .set(({ fn, val }) => ({ ending_at: fn.coalesce('ending_at', val(now)) }))
    .where('turn_id', '=', turnId)
    .where('status', 'in', ['starting', 'running'])
    .returning('turn_id')
    .compile(),
);
/** Changes nothing, but locks the rows, so that no call changes after its state was read. */
const updateOpenCalls = compileOnce((write, { turnId }: { turnId: string }) =>
  write
    .updateTable('tool_calls')
    .set((row) => ({ created_at: row.ref('created_at') }))
    .where('turn_id', '=', turnId)
    .where('state', '!=', 'finished')
    .returning(['tool_call_id', 'tool_name', 'input', 'state', 'delegation', 'created_at', 'has_asked'])
    .compile(),
);
const selectUsage = compileOnce((write, { turnId }: { turnId: string }) =>
  write
    .selectFrom('turn_steps')
    .select(({ fn }) => [
      fn.sum<number | null>('input_tokens').as('input_tokens'),
      fn.sum<number | null>('output_tokens').as('output_tokens'),
    ])
    .where('turn_id', '=', turnId)
    .compile(),
);

/** `ended`: null if the turn had not begun, so its log has no end. */
export interface EndedTurn {
  ended: Ended | null;
  usage: Usage | null;
  marks: Mark[];
}

/** Null: there was nothing to end. */
export async function endTurn(
  write: Write,
  turn: TurnRef,
  status: TurnEndStatus,
  ending: Ending,
  now: number,
): Promise<EndedTurn | null> {
  const { turnId } = turn;
  const cancelled = async () => (ending.isOwn === true ? [] : addTurnMark(write, 'cancel', turn, now));
  const {
    rows: [running],
  } = await updateEnded(write, { turnId, status, now, ...dueAfter.end(now) });
  if (running) {
    const written = running.status as TurnEndStatus;
    const { questions, usage, marks } = await writeEnd(write, turn, written, ending, now);
    const ended = { status: written, startedAt: running.created_at, questions };
    return { ended, usage, marks: [...marks, ...(await cancelled())] };
  }
  const end = { status, ended_at: now, staged: null, ...dueAfter.end(now) };
  const updated = await updateRows(write, 'turns', { turn_id: turnId, status: 'starting' }, end);
  return updated > 0 ? { ended: null, usage: null, marks: await cancelled() } : null;
}

async function writeEnd(
  write: Write,
  turn: TurnRef,
  status: TurnEndStatus,
  { resultOf, messages = [], events = [], keepsCalls = false }: Ending,
  now: number,
): Promise<Settled & Pick<EndedTurn, 'usage'>> {
  const { turnId } = turn;
  const pending = await lockLeftOpen(write, turnId);
  const calls = await lockOpenCalls(write, turnId);
  if (calls.some((call) => call.has_asked === 1))
    await markUnused(write, await unusedAnswers(write, turnId, calls));
  const { questions } = await abandon(write, pending, now);
  const marks = calls.length > 0 ? await leaveRounds(write, turn, keepsCalls, now) : [];
  const last = (lane: TurnRef, additions: Additions) =>
    writeToConversation(write, lane, { ...additions, isEnd: true }, now);
  if (resultOf && calls.length > 0) {
    await write
      .updateTable('tool_calls')
      .set({ state: 'finished' })
      .where('turn_id', '=', turnId)
      .where('state', '!=', 'finished')
      .execute();
    const { tenant, conversation } = turn;
    for (const row of calls) {
      const { message, event } = resultOf(toToolCall(row));
      const caller = { tenant, conversation, turnId, ...fromColumn(row.delegation) };
      await last(caller, { messages: [message], events: [event] });
    }
  }
  const { rows: used } = await selectUsage(write, { turnId });
  const usage = (used[0] && usageOf(used[0])) ?? null;
  const event = { type: 'turn-ended', status, ...(usage && { usage }) } as const;
  await last(turn, { messages, events: [...events, { key: 'turn-ended', event }] });
  return { questions, usage, marks };
}

/** The turn is to stop; its workflow writes the end. Null: it was not live. */
export async function beginEnd(
  write: Write,
  turn: TurnRef,
  { isOwn, now }: { isOwn: boolean; now: number },
): Promise<Settled | null> {
  const { rows } = await updateEnding(write, { turnId: turn.turnId, now });
  if (rows.length === 0) return null;
  const { questions } = await abandon(write, await lockPendingOf(write, turn.turnId), now);
  return { questions, marks: isOwn ? [] : await addTurnMark(write, 'cancel', turn, now) };
}

function abandon(write: Write, pending: ElicitationRow[], at: number): Promise<Settled> {
  const closed = pending.map((row) => advanced(row, { type: 'abandoned' }, at));
  return writeSettled(write, closed, { at, isEnd: true });
}

/** In the order in which they were made. */
export async function lockOpenCalls(write: Write, turnId: string): Promise<LockedCall[]> {
  const { rows } = await updateOpenCalls(write, { turnId });
  return rows.toSorted(
    (one, other) => one.created_at - other.created_at || (one.tool_call_id < other.tool_call_id ? -1 : 1),
  );
}

/** Servers may keep calls with rounds open; then the rounds stay until the calls are abandoned. */
async function leaveRounds(write: Write, turn: TurnRef, keepsCalls: boolean, at: number): Promise<Mark[]> {
  const { turnId } = turn;
  const rounds = write.selectFrom('tool_call_rounds').select('round').where('turn_id', '=', turnId);
  if (!keepsCalls)
    return (await rounds.limit(1).executeTakeFirst()) ? addTurnMark(write, 'abandon', turn, at) : [];
  await deleteRows(write, 'tool_call_rounds', { turn_id: turnId });
  return [];
}
