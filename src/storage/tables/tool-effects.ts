import type { Database } from '../database.ts';
import type { EffectRef, ToolEffects } from '../ports/tool-effects.ts';

export function createToolEffects({ query, now }: Database): ToolEffects {
  const rowOf = ({ workflowId, activityId }: EffectRef) =>
    query
      .selectFrom('tool_effects')
      .select(['state', 'sealed'])
      .where('workflow_id', '=', workflowId)
      .where('activity_id', '=', activityId)
      .executeTakeFirstOrThrow();

  return {
    async claim(effect, { turn, name }) {
      const claimed = await query
        .insertInto('tool_effects')
        .values({
          workflow_id: effect.workflowId,
          activity_id: effect.activityId,
          turn_id: turn.turnId,
          name,
          state: 'started',
          sealed: null,
          created_at: now(),
        })
        .onConflict((conflict) => conflict.columns(['workflow_id', 'activity_id']).doNothing())
        .executeTakeFirst();
      if (Number(claimed.numInsertedOrUpdatedRows) > 0) return { kind: 'claimed' };
      const { state, sealed } = await rowOf(effect);
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
