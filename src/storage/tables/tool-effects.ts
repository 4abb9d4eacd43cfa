import { sql } from 'kysely';
import type { TurnRef } from '../../turn/turn.ts';
import { compileOnce, isPostgres } from '../database.ts';
import type { Database } from '../database.ts';
import { findRow, updateRows } from '../statements.ts';
import { WriteRefused } from '../write-refused.ts';

/** A call of an author's activity: the tool's workflow, and the number of the call in it. */
export interface EffectRef {
  workflowId: string;
  activityId: string;
}

/** `claimed`: by this call. `sealed`: its result; null when it was deleted after the tool's end. */
type EffectClaim = { kind: 'claimed' | 'started' } | { kind: 'finished'; sealed: string | null };

type NewEffect = Record<'workflowId' | 'activityId' | 'turnId' | 'name', string> & { at: number };

/**
 * Locks the turn, so that a new message does not replace it while an effect begins. The time is later than anything its tool
 * may have acted on, even if the clock of the process that settled that is ahead.
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
        .$if(isPostgres(query), (turn) => turn.forShare()),
    )
    .onConflict((conflict) => conflict.columns(['workflow_id', 'activity_id']).doNothing())
    .returning('state')
    .compile(),
);

/** What authors' activities have done, so that none takes effect twice. */
export function createToolEffects({ query, now }: Database) {
  return {
    /**
     * `started`: an earlier attempt has begun, with an unknown result. A new effect of an ended turn is refused
     * (`WriteRefused`).
     */
    async claim(effect: EffectRef, { turn, name }: { turn: TurnRef; name: string }): Promise<EffectClaim> {
      const { rows: claimed } = await insertEffect(query, {
        workflowId: effect.workflowId,
        activityId: effect.activityId,
        turnId: turn.turnId,
        name,
        at: now(),
      });
      if (claimed.length > 0) return { kind: 'claimed' };
      const { workflowId, activityId } = effect;
      const row = await findRow(query, 'tool_effects', { workflow_id: workflowId, activity_id: activityId });
      if (!row) throw new WriteRefused('turn-ended');
      const { state, sealed } = row;
      return state === 'finished' ? { kind: state, sealed } : { kind: state };
    },
    /** `started` → `finished`. The first result counts. */
    async finish({ workflowId, activityId }: EffectRef, sealed: string): Promise<boolean> {
      const effect = { workflow_id: workflowId, activity_id: activityId, state: 'started' } as const;
      return (await updateRows(query, 'tool_effects', effect, { state: 'finished', sealed })) > 0;
    },
    /** After the tool's end: keeps the effects, deletes their results. */
    async forgetResults(workflowId: string): Promise<void> {
      await updateRows(query, 'tool_effects', { workflow_id: workflowId }, { sealed: null });
    },
  };
}
