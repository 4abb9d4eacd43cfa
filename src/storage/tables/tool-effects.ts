import { sql } from 'kysely';
import { compileOnce } from '../compile-once.ts';
import { needsLocks } from '../database.ts';
import type { Database } from '../database.ts';
import type { EffectRef, ToolEffects } from '../ports/tool-effects.ts';
import { WriteRefused } from '../write-refused.ts';

type NewEffect = Record<'workflowId' | 'activityId' | 'turnId' | 'name', string> & { at: number };

/**
 * Locks the turn: a new message does not replace it while an effect begins. It begins after what its tool may have acted on,
 * also where the process that settled that is ahead.
 */
const insertEffect = compileOnce((query, { workflowId, activityId, turnId, name, at }: NewEffect) =>
  query
    .insertInto('tool_effects')
    .columns(['workflow_id', 'activity_id', 'turn_id', 'name', 'state', 'created_at'])
    .expression((row) =>
      row
        .selectFrom('turns')
        .select([
          sql<string>`${workflowId}`.as('workflow_id'),
          sql<string>`${activityId}`.as('activity_id'),
          'turn_id',
          sql<string>`${name}`.as('name'),
          sql<'started'>`'started'`.as('state'),
          sql<number>`coalesce(
            (select max(settled_at) + 1 from elicitations where turn_id = ${turnId} and settled_at >= ${at}),
            cast(${at} as bigint))`.as('created_at'),
        ])
        .where('turn_id', '=', turnId)
        .where('status', 'in', ['starting', 'running'])
        .$if(needsLocks(query), (turn) => turn.forShare()),
    )
    .onConflict((conflict) => conflict.columns(['workflow_id', 'activity_id']).doNothing())
    .returning('state')
    .compile(),
);

export function createToolEffects({ query, now }: Database): ToolEffects {
  const rowOf = ({ workflowId, activityId }: EffectRef) =>
    query
      .selectFrom('tool_effects')
      .select(['state', 'sealed'])
      .where('workflow_id', '=', workflowId)
      .where('activity_id', '=', activityId)
      .executeTakeFirst();

  return {
    async claim(effect, { turn, name }) {
      const { rows: claimed } = await insertEffect(query, {
        workflowId: effect.workflowId,
        activityId: effect.activityId,
        turnId: turn.turnId,
        name,
        at: now(),
      });
      if (claimed.length > 0) return { kind: 'claimed' };
      const row = await rowOf(effect);
      if (!row) throw new WriteRefused('turn-ended');
      const { state, sealed } = row;
      return state === 'finished' ? { kind: state, sealed } : { kind: state };
    },
    async finish({ workflowId, activityId }, sealed) {
      const result = await query
        .updateTable('tool_effects')
        .set({ state: 'finished', sealed })
        .where('workflow_id', '=', workflowId)
        .where('activity_id', '=', activityId)
        .where('state', '=', 'started')
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },
    async forgetResults(workflowId) {
      await query
        .updateTable('tool_effects')
        .set({ sealed: null })
        .where('workflow_id', '=', workflowId)
        .execute();
    },
  };
}
