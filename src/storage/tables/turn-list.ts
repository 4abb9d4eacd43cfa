/** The turns of an owner, page by page. */
import { sql } from 'kysely';
import type { TurnOwner } from '../../turn/turn.ts';
import type { TurnFilter, TurnPosition, TurnRow } from '../ports/turns.ts';
import type { Database } from '../database.ts';
import { selectTurns, toTurn } from './turn-rows.ts';

const changedAt = sql<number>`coalesce(ended_at, created_at)`;

export async function listTurns(
  query: Database['query'],
  { tenant, user, service = null }: TurnOwner,
  { agent, conversation, statuses, since }: TurnFilter,
  { after, limit }: { after: TurnPosition | null; limit: number },
): Promise<{ rows: TurnRow[]; total: number }> {
  const matching = selectTurns(query, { tenant, ...(conversation !== undefined && { conversation }) })
    .where('user_id', user === null ? 'is' : '=', user)
    .where('service', service === null ? 'is' : '=', service)
    .where('agent', '=', agent)
    .$if(statuses !== undefined, (turns) => turns.where('status', 'in', statuses ?? []))
    .$if(since !== undefined, (turns) => turns.where(changedAt, '>=', since ?? 0));
  const rows = await matching
    .$if(after !== null, (older) =>
      older.where(
        sql<boolean>`(coalesce(ended_at, created_at), turns.turn_id) < (${after?.changedAt ?? 0}, ${after?.turnId ?? ''})`,
      ),
    )
    .orderBy(changedAt, 'desc')
    .orderBy('turns.turn_id', 'desc')
    .limit(limit)
    .execute();
  const { total } = await matching
    .clearSelect()
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  return { rows: rows.map(toTurn), total: Number(total) };
}
