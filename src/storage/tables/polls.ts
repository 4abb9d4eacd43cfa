/**
 * What is polled while questions are open. A poll is written with its first question and deleted when none of its
 * questions is pending any more. A claim is a lease: it moves `due_at`, so that processes never run the same poll at once,
 * and a poll whose process died is run by another one. Where the next run is due when the lease ends, nothing is written.
 */
import type { Transaction } from 'kysely';
import { sql } from 'kysely';
import { chunks } from '../log/append.ts';
import type { Poll, Polls, NewPoll } from '../ports/polls.ts';
import { fromJson } from '../schema.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';

export function createPolls({ kind, query, now }: Database): Polls {
  return {
    async claim({ kinds, limit, perServer, except }, leaseMs) {
      const at = now();
      const due = query
        .selectFrom('looks')
        .where('due_at', '<=', at)
        .where('kind', 'in', kinds)
        .$if(except.length > 0, (some) => some.where('server', 'not in', except));
      // Mostly nothing is due: a read is cheaper than an update that finds nothing.
      if (!(await due.select('id').limit(1).executeTakeFirst())) return [];
      const place = sql<number>`row_number() over (partition by server order by due_at)`.as('place');
      const next = query
        .selectFrom(due.select(['id', 'due_at', place]).as('due'))
        .select('id')
        .where('place', '<=', perServer)
        .orderBy('due_at')
        .limit(limit);
      const rows = await query
        .updateTable('looks')
        .set((row) => ({ due_at: at + leaseMs, looks: row('looks', '+', 1) }))
        .where('id', 'in', (row) =>
          row
            .selectFrom('looks')
            .select('id')
            .where('id', 'in', next)
            .where('due_at', '<=', at)
            // SQLite has one writer at a time.
            .$if(kind === 'postgres', (mine) => mine.forNoKeyUpdate().skipLocked()),
        )
        .returning(['id', 'subject', 'looks'])
        .execute();
      const pending = await pendingOf(rows.map(({ id }) => id));
      await drop(rows.map(({ id }) => id).filter((id) => !pending.has(id)));
      return rows.flatMap((row): Poll[] => {
        const questions = pending.get(row.id);
        const { id, looks: count } = row;
        return questions ? [{ id, count, questions, subject: fromJson(row.subject) }] : [];
      });
    },
    async hold(ids, ms) {
      if (ids.length === 0) return new Set();
      await move(ids, ms);
      return new Set((await pendingOf(ids)).keys());
    },
    again: (id, afterMs) => move([id], afterMs),
    drop: (id) => drop([id]),
    async isDue(kinds, sinceMs) {
      const due = query
        .selectFrom('looks')
        .select('id')
        .where('due_at', '<=', now() - sinceMs);
      return (await due.where('kind', 'in', kinds).limit(1).executeTakeFirst()) !== undefined;
    },
  };

  async function pendingOf(ids: string[]): Promise<Map<string, string[]>> {
    const pending = new Map<string, string[]>();
    for (const chunk of chunks(ids)) {
      const rows = await query
        .selectFrom('elicitations')
        .select(['id', 'look'])
        .where('look', 'in', chunk)
        .where('status', '=', 'pending')
        .execute();
      for (const { id, look } of rows) pending.set(look ?? '', [...(pending.get(look ?? '') ?? []), id]);
    }
    return pending;
  }

  async function move(ids: string[], ms: number): Promise<void> {
    const at = now();
    for (const chunk of chunks(ids))
      await query
        .updateTable('looks')
        .set({ due_at: at + ms })
        .where('id', 'in', chunk)
        .execute();
  }

  async function drop(ids: string[]): Promise<void> {
    for (const chunk of chunks(ids)) await query.deleteFrom('looks').where('id', 'in', chunk).execute();
  }
}

/** In the transaction that opens the question. Questions of one round share a poll. */
export async function addPoll(
  write: Transaction<Tables>,
  { id, subject, firstMs }: NewPoll,
  now: number,
): Promise<void> {
  await write
    .insertInto('looks')
    .values({
      id,
      kind: subject.kind,
      server: subject.server,
      subject: JSON.stringify(subject),
      due_at: now + firstMs,
      looks: 0,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}
