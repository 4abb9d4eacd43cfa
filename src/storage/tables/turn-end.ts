/**
 * How turns end: nothing that belongs to one stays open behind it. Turns, then questions, then tool calls, then the
 * conversation are locked, in this order, so that writers never wait for each other in a circle.
 */
import type { Transaction } from 'kysely';
import type { TurnEndStatus, TurnRef } from '../../turn/turn.ts';
import { compileOnce } from '../compile-once.ts';
import { isConversation, writeToConversation } from '../log/append.ts';
import type { Additions } from '../log/append.ts';
import { dueAfter } from './due-turns.ts';
import { fromColumn } from './delegation.ts';
import { settledEvent, toElicitation, settleRows } from './elicitation-rows.ts';
import type { ElicitationRow } from '../ports/elicitations.ts';
import type { Ended, Ending } from '../ports/turns.ts';
import type { ToolCallRow } from '../ports/tool-calls.ts';
import type { Tables } from '../schema.ts';
import { toToolCall } from './tool-calls.ts';
import { usageOf } from './turn-rows.ts';

type Write = Transaction<Tables>;

const updateEnded = compileOnce(
  (write, turn: { turnId: string; status: TurnEndStatus; now: number; due_at: number }) =>
    write
      .updateTable('turns')
      .set({ status: turn.status, ended_at: turn.now, staged: null, due_at: turn.due_at })
      .where('turn_id', '=', turn.turnId)
      .where('status', '=', 'running')
      .returning('created_at')
      .compile(),
);
const closeQuestions = compileOnce((write, { turnId, now }: { turnId: string; now: number }) =>
  write
    .updateTable('elicitations')
    .set({ status: 'cancel', settled_at: now })
    .where('turn_id', '=', turnId)
    .where('status', '=', 'pending')
    .returningAll()
    .compile(),
);
/** Changes nothing; it locks the rows, so that no call moves on after its state was read. */
const lockOpenCalls = compileOnce((write, { turnId }: { turnId: string }) =>
  write
    .updateTable('tool_calls')
    .set((row) => ({ created_at: row.ref('created_at') }))
    .where('turn_id', '=', turnId)
    .where('state', '!=', 'finished')
    .returning(['tool_call_id', 'tool_name', 'input', 'state', 'delegation', 'created_at'])
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

export async function endTurn(
  write: Write,
  turn: TurnRef,
  status: TurnEndStatus,
  ending: Ending,
  now: number,
): Promise<Ended | null> {
  const {
    rows: [ended],
  } = await updateEnded(write, { turnId: turn.turnId, status, now, ...dueAfter.end(now) });
  if (ended)
    return { startedAt: ended.created_at, questions: await writeEnd(write, turn, status, ending, now) };
  // It never began, so that there is nothing in the log to end.
  await write
    .updateTable('turns')
    .set({ status, ended_at: now, staged: null, ...dueAfter.end(now) })
    .where('turn_id', '=', turn.turnId)
    .where('status', '=', 'starting')
    .execute();
  return null;
}

/**
 * To be called when a turn begins. Temporal runs one turn per conversation, and a workflow writes its turn's end
 * before it closes: whatever else is still running here was terminated there, or Temporal has lost it. Answers with the
 * questions that this has closed.
 */
export async function endLostTurns(write: Write, begun: TurnRef, now: number): Promise<ElicitationRow[]> {
  const { tenant, conversation, turnId } = begun;
  const lost = await write
    .updateTable('turns')
    .set({ status: 'cancelled', ended_at: now, staged: null, ...dueAfter.end(now) })
    .where(isConversation(begun))
    .where('status', '=', 'running')
    .where('turn_id', '!=', turnId)
    .returning('turn_id')
    .execute();
  const closed: ElicitationRow[] = [];
  for (const row of lost)
    closed.push(
      ...(await writeEnd(write, { tenant, conversation, turnId: row.turn_id }, 'cancelled', {}, now)),
    );
  return closed;
}

async function writeEnd(
  write: Write,
  turn: TurnRef,
  status: TurnEndStatus,
  { outcomes = [], resultOf, events = [] }: Ending,
  now: number,
): Promise<ElicitationRow[]> {
  const decided = await settleRows(write, outcomes, now);
  // A workflow knows what became of its questions; these are of one that could not say so.
  const rest = await closeQuestions(write, { turnId: turn.turnId, now });
  const questions = [...decided, ...rest.rows.map(toElicitation)];
  const calls = resultOf ? await finishCalls(write, turn) : [];
  const last = (lane: TurnRef, additions: Additions) =>
    writeToConversation(write, lane, { ...additions, isEnd: true }, now);
  await last(turn, { events: questions.map(settledEvent) });
  for (const { caller, call } of calls) {
    const result = resultOf?.(call);
    if (result) await last(caller, { messages: [result.message], events: [result.event] });
  }
  const { rows: used } = await selectUsage(write, { turnId: turn.turnId });
  const usage = used[0] && usageOf(used[0]);
  const event = { type: 'turn-ended', status, ...(usage && { usage }) } as const;
  await last(turn, { events: [...events, { key: 'turn-ended', event }] });
  return questions;
}

/** Those that had no result yet, as they were, and the agent that made each. */
async function finishCalls(write: Write, turn: TurnRef): Promise<{ caller: TurnRef; call: ToolCallRow }[]> {
  const { tenant, conversation, turnId } = turn;
  const { rows } = await lockOpenCalls(write, { turnId });
  if (rows.length === 0) return [];
  await write
    .updateTable('tool_calls')
    .set({ state: 'finished' })
    .where('turn_id', '=', turnId)
    .where('state', '!=', 'finished')
    .execute();
  await write.deleteFrom('tool_call_rounds').where('turn_id', '=', turnId).execute();
  const inOrder = rows.toSorted(
    (one, other) => one.created_at - other.created_at || (one.tool_call_id < other.tool_call_id ? -1 : 1),
  );
  return inOrder.map((row) => ({
    caller: { tenant, conversation, turnId, ...fromColumn(row.delegation) },
    call: toToolCall(row),
  }));
}
