import { sql } from 'kysely';
import type { RawBuilder, Transaction } from 'kysely';
import { keyOfStep } from '../../turn/step-keys.ts';
import type { TurnRef } from '../../turn/turn.ts';
import { keyOf } from '../tables/delegation.ts';
import type { NewEvent } from '../ports/turn-log.ts';
import type { Tables } from '../schema.ts';

/** Condition on `turn_events`: it was said in this step, whichever attempt has said it. */
export function isSaidIn(turn: TurnRef, step: number): RawBuilder<boolean> {
  const prefix = keyOf(turn, keyOfStep(step));
  // Not by a range of keys: how PostgreSQL sorts them depends on its locale.
  return sql<boolean>`substr(key, 1, ${sql.lit(prefix.length)}) = ${prefix}`;
}

/**
 * Deletes the output of a step's earlier attempts when its `reset-step` is among the events just written. Sequence
 * numbers are not reused. Only entries before the `reset-step` are deleted, so that writing it once more takes nothing
 * from the attempt after it.
 */
export async function removeVoidText(
  write: Transaction<Tables>,
  turn: TurnRef,
  written: NewEvent[],
): Promise<void> {
  for (const { key, event } of written) {
    if (event.type !== 'reset-step') continue;
    await write
      .deleteFrom('turn_events')
      .where('turn_id', '=', turn.turnId)
      .where(isSaidIn(turn, event.step))
      .where('seq', '<', ({ selectFrom }) =>
        selectFrom('turn_events').select('seq').where('turn_id', '=', turn.turnId).where('key', '=', key),
      )
      .execute();
  }
}
