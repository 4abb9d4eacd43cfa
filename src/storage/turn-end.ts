/**
 * How turns end: nothing that belongs to one stays open behind it. Turns, then questions, then the conversation are
 * locked, in this order, so that writers never wait for each other in a circle.
 */
import type { Transaction } from 'kysely';
import type { TurnEndStatus, TurnRef } from '../turn/turn.ts';
import { isConversation, writeToConversation } from './conversation-write.ts';
import { dueAfter } from './due-turns.ts';
import { eventOf, toElicitation } from './elicitation-rows.ts';
import type { Tables } from './tables.ts';
import { selectTurns, usageOf } from './turn-rows.ts';

type Write = Transaction<Tables>;

export async function endTurn(
  write: Write,
  turn: TurnRef,
  status: TurnEndStatus,
  now: number,
): Promise<boolean> {
  const ended = await write
    .updateTable('turns')
    .set({ status, ended_at: now, staged: null, ...dueAfter.end(now) })
    .where('turn_id', '=', turn.turnId)
    .where('status', '=', 'running')
    .executeTakeFirst();
  if (ended.numUpdatedRows > 0n) {
    await writeEnds(write, [turn], status, now);
    return true;
  }
  // It never began, so that there is nothing in the log to end.
  await write
    .updateTable('turns')
    .set({ status, ended_at: now, staged: null, ...dueAfter.end(now) })
    .where('turn_id', '=', turn.turnId)
    .where('status', '=', 'starting')
    .execute();
  return false;
}

/**
 * To be called when a turn begins. Temporal runs one turn per conversation, and a workflow writes its turn's end
 * before it closes: whatever else is still running here was terminated there, or Temporal has lost it.
 */
export async function endLostTurns(write: Write, begun: TurnRef, now: number): Promise<void> {
  const { tenant, conversation, turnId } = begun;
  const lost = await write
    .updateTable('turns')
    .set({ status: 'cancelled', ended_at: now, ...dueAfter.end(now) })
    .where(isConversation(begun))
    .where('status', '=', 'running')
    .where('turn_id', '!=', turnId)
    .returning('turn_id')
    .execute();
  const turns = lost.map((row): TurnRef => ({ tenant, conversation, turnId: row.turn_id }));
  await writeEnds(write, turns, 'cancelled', now);
}

async function writeEnds(write: Write, turns: TurnRef[], status: TurnEndStatus, now: number): Promise<void> {
  if (turns.length === 0) return;
  // A workflow settles its questions itself before it ends; these are of one that could not.
  const closed = await write
    .updateTable('elicitations')
    .set({ status: 'cancel', settled_at: now })
    .where(
      'turn_id',
      'in',
      turns.map(({ turnId }) => turnId),
    )
    .where('status', '=', 'pending')
    .returningAll()
    .execute();
  const questions = closed.map(toElicitation);
  for (const turn of turns) {
    const { turnId } = turn;
    const row = await selectTurns(write, turn).where('turns.turn_id', '=', turnId).executeTakeFirst();
    const usage = row && usageOf(row);
    const event = { type: 'turn-ended', status, ...(usage && { usage }) } as const;
    const ofTurn = questions.filter((question) => question.turnId === turnId);
    const events = [...ofTurn.map((question) => eventOf(question, 'cancel')), { key: 'turn-ended', event }];
    await writeToConversation(write, turn, { events }, now);
  }
}
