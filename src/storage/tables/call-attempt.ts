/**
 * Which attempt at a tool call counts. A call has executions, one after another: the first one, another when its account is
 * connected, another for each round of answers. Each execution is an activity with its own attempts.
 */
import type { Expression, ExpressionBuilder, Kysely, SqlBool } from 'kysely';
import type { TurnRef } from '../../turn/turn.ts';
import type { ToolCallRow } from '../schema/turn-tables.ts';
import type { Tables } from '../schema.ts';
import { isOver, WriteRefused } from '../write-refused.ts';

/** An attempt at a call. Writes of older attempts are refused once a newer one has written. */
export interface CallAttempt {
  /** The number of activities that were executed for the call before. Attempts of each count from 1. */
  execution: number;
  attempt: number;
}

/** More than any activity has. */
const attemptsEach = 2 ** 20;

/** Grows from attempt to attempt. */
export function numberOf({ execution, attempt }: CallAttempt): number {
  return execution * attemptsEach + attempt;
}

/** Counts from 1 in each execution; 0: none. */
export function attemptWithinExecution(number: number): number {
  return number % attemptsEach;
}

/**
 * For `where`: the row of this call, unless its turn has ended or a newer attempt has taken it over. `number`: the attempt;
 * undefined: any. `isStart`: the call starts with this, which is refused if its turn was asked to stop.
 */
export function openTo(
  { turnId, toolCallId }: { turnId: string; toolCallId: string },
  number: number | undefined,
  { isStart = false } = {},
): (row: ExpressionBuilder<Tables, 'tool_calls'>) => Expression<SqlBool> {
  return (row) =>
    row.and([
      row('tool_calls.turn_id', '=', turnId),
      row('tool_call_id', '=', toolCallId),
      ...(number === undefined ? [] : [row('attempt', '<=', number)]),
      row.exists(
        row
          .selectFrom('turns')
          .select('status')
          .where('turns.turn_id', '=', turnId)
          .where('status', 'in', ['starting', 'running'])
          .$if(isStart, (turn) => turn.where('ending_at', 'is', null)),
      ),
    ]);
}

/** Call it when that condition did not hold, with the same `isStart`. Rejects unless the state of the call was the reason. */
export async function stateUnlessRefused(
  query: Kysely<Tables>,
  turn: TurnRef,
  toolCallId: string,
  by: CallAttempt | undefined,
  { isStart = false } = {},
): Promise<ToolCallRow['state'] | null> {
  const row = await query
    .selectFrom('tool_calls')
    .innerJoin('turns', 'turns.turn_id', 'tool_calls.turn_id')
    .select(['state', 'attempt', 'status', 'ending_at'])
    .where(({ and }) => and({ 'tool_calls.turn_id': turn.turnId, tool_call_id: toolCallId }))
    .executeTakeFirst();
  if (!row || row.state === 'finished') return row?.state ?? null;
  const mayNotStart = isStart && row.state !== 'started' && row.ending_at !== null;
  if (isOver(row.status) || mayNotStart) throw new WriteRefused('turn-ended');
  if (by && row.attempt > numberOf(by)) throw new WriteRefused('newer-attempt');
  return row.state;
}
