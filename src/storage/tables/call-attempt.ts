/**
 * Which attempt at a tool call counts. A call is made in executions, one after another: first of all, again once an
 * account is connected, again for each round of answers. Each is an activity of its own, with attempts of its own.
 */
import type { Expression, ExpressionBuilder, Kysely, SqlBool } from 'kysely';
import type { TurnRef } from '../../turn/turn.ts';
import type { CallAttempt, ToolCallRow } from '../ports/tool-calls.ts';
import type { Tables } from '../schema.ts';
import { isOver, WriteRefused } from '../write-refused.ts';

/** More attempts than any activity has. */
const attemptsEach = 2 ** 20;

/** Grows from one attempt to the next. */
export function numberOf({ execution, attempt }: CallAttempt): number {
  return execution * attemptsEach + attempt;
}

/** Counts from 1 in each execution; 0: there was none. */
export function attemptWithinExecution(number: number): number {
  return number % attemptsEach;
}

/**
 * For `where`: the row of this call, while its turn goes on and no newer attempt has taken it over. `number`: of the attempt;
 * without it, any. `isStart`: the call is to start, which it does not in a turn that was asked to stop.
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

/**
 * To be called when that condition did not hold, with the same `isStart`. Rejects unless the reason was the state of the call.
 */
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
    .where('tool_calls.turn_id', '=', turn.turnId)
    .where('tool_call_id', '=', toolCallId)
    .executeTakeFirst();
  if (!row || row.state === 'finished') return row?.state ?? null;
  const mayNotStart = isStart && row.state !== 'started' && row.ending_at !== null;
  if (isOver(row.status) || mayNotStart) throw new WriteRefused('turn-ended');
  if (by && row.attempt > numberOf(by)) throw new WriteRefused('newer-attempt');
  return row.state;
}
