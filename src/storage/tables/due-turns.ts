/**
 * Which turns somebody has to look after: one that has not ended may have lost its workflow, one that has may not be
 * merged yet. `due_at` is a lease: a claim moves it, so that processes never reconcile the same turn at once, and a process
 * that dies with a claim has only delayed it.
 */
import type { DueTurn } from '../ports/turns.ts';
import type { Database } from '../database.ts';

/** Longer than the start of a turn is tried for. */
const startMs = 30_000;
/** No turn is looked at that ends sooner. */
const beginMs = 5_000;
/** Whoever ends a turn merges it at once. */
const mergeMs = 30_000;

export const dueAfter = {
  prepare: (now: number) => ({ due_at: now + startMs }),
  begin: (now: number) => ({ due_at: now + beginMs }),
  end: (now: number) => ({ due_at: now + mergeMs }),
  merge: { due_at: null },
};

export async function claimDueTurns(
  { kind, query, now }: Database,
  limit: number,
  againMs: number,
  longestMs?: number,
): Promise<DueTurn[]> {
  const at = now();
  const rows = await query
    .updateTable('turns')
    .set({ due_at: at + againMs })
    .where('turn_id', 'in', (row) =>
      row
        .selectFrom('turns')
        .select('turn_id')
        .where('due_at', '<=', at)
        .$if(longestMs !== undefined, (due) =>
          due.where('ended_at', 'is', null).where('created_at', '<=', at - (longestMs ?? 0)),
        )
        .orderBy('due_at')
        .limit(limit)
        // SQLite's writers never meet.
        .$if(kind === 'postgres', (due) => due.forNoKeyUpdate().skipLocked()),
    )
    .returning(['tenant', 'conversation', 'turn_id', 'status', 'created_at', 'due_at'])
    .execute();
  return rows.map((row) => ({
    tenant: row.tenant,
    conversation: row.conversation,
    turnId: row.turn_id,
    status: row.status,
    createdAt: row.created_at,
    dueAt: row.due_at ?? at,
  }));
}
