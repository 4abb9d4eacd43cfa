import type { Transaction } from 'kysely';
import { toElicitation } from './elicitation-rows.ts';
import type { Settlement } from '../../elicitation/elicitation.ts';
import type { ElicitationRow } from '../ports/elicitations.ts';
import type { Tables } from '../schema.ts';

/** Those that were still pending, settled; in the order of `settlements`. Their events are for the caller to write. */
export async function settleRows(
  write: Transaction<Tables>,
  settlements: Settlement[],
  now: number,
): Promise<ElicitationRow[]> {
  const settled = new Map<string, ElicitationRow>();
  // Whoever settles several locks them in the same order.
  for (const settlement of settlements.toSorted(byId)) {
    const { elicitationId: id, outcome, responseId, because = null } = settlement;
    const row = await write
      .updateTable('elicitations')
      .set({ status: outcome, response_id: responseId, settled_at: now, because })
      .where('id', '=', id)
      .where('status', '=', 'pending')
      .returningAll()
      .executeTakeFirst();
    if (row) settled.set(id, toElicitation(row));
  }
  return settlements.flatMap(({ elicitationId }) => settled.get(elicitationId) ?? []);
}

function byId(one: Settlement, other: Settlement): number {
  return one.elicitationId < other.elicitationId ? -1 : 1;
}
