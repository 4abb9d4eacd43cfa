import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import { keyOfStep } from '../../turn/step-keys.ts';
import type { TurnRef } from '../../turn/turn.ts';
import { keyOf } from '../tables/delegation.ts';
import type { NewEvent } from '../ports/turn-log.ts';
import type { Tables } from '../schema.ts';

/**
 * Removes what earlier attempts of a step have said, when its `reset-step` is among the events just written: nobody
 * reads it who has not done so already. Numbers are not given again. Only what stands before the `reset-step` goes, so
 * that writing it once more takes nothing from the attempt after it.
 */
export async function removeVoidSpeech(
  write: Transaction<Tables>,
  turn: TurnRef,
  written: NewEvent[],
): Promise<void> {
  for (const { key, event } of written) {
    if (event.type !== 'reset-step') continue;
    const prefix = keyOf(turn, keyOfStep(event.step));
    await write
      .deleteFrom('turn_events')
      .where('turn_id', '=', turn.turnId)
      // Not by a range of keys: how PostgreSQL sorts them depends on its locale.
      .where(sql<string>`substr(key, 1, ${sql.lit(prefix.length)})`, '=', prefix)
      .where('seq', '<', ({ selectFrom }) =>
        selectFrom('turn_events').select('seq').where('turn_id', '=', turn.turnId).where('key', '=', key),
      )
      .execute();
  }
}
