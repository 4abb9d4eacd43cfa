/**
 * What is polled while questions are open, because what could settle them may not notify this service. A poll is written with
 * its first question, and deleted when none of its questions is pending any more. A claim is a lease: it moves `due_at`, so
 * that processes never run the same poll at once, and a dead process's poll is run by another one. If the next run is due
 * when the lease ends, nothing is written.
 */
import type { Transaction } from 'kysely';
import { sql } from 'kysely';
import { fromJson } from '../schema.ts';
import { isOneOf, isPostgres } from '../database.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';
import { insertNew } from '../statements.ts';
import type { PollSubject } from '../schema/question-tables.ts';

export interface NewPoll {
  id: string;
  subject: PollSubject;
  /** Until the first poll. */
  firstMs: number;
}

export interface Poll extends Pick<NewPoll, 'id' | 'subject'> {
  /** The number of runs, with this one. */
  count: number;
  /** The ids of its pending questions; at least one. */
  questions: string[];
}

export function createPolls({ query, now }: Database) {
  return {
    /**
     * Claims due polls, longest due first, at most `perServer` of one server and none of the servers in `except`. After
     * `leaseMs` they are due again.
     */
    async claim(
      {
        kinds,
        limit,
        perServer,
        except,
      }: { kinds: PollSubject['kind'][]; limit: number; perServer: number; except: string[] },
      leaseMs: number,
    ): Promise<Poll[]> {
      const at = now();
      const due = query
        .selectFrom('looks')
        .where('due_at', '<=', at)
        .where('kind', 'in', kinds)
        .$if(except.length > 0, (some) => some.where('server', 'not in', except));
      // Usually nothing is due, and a read is cheaper than an update.
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
            .$if(isPostgres(query), (mine) => mine.forNoKeyUpdate().skipLocked()),
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
    /** Renews leases for `ms`. Returns the ids of those that still have a pending question. */
    async hold(ids: string[], ms: number): Promise<Set<string>> {
      if (ids.length === 0) return new Set();
      await move(ids, ms);
      return new Set((await pendingOf(ids)).keys());
    },
    /** Ends a lease: due again after `afterMs`. */
    again: (id: string, afterMs: number): Promise<void> => move([id], afterMs),
    drop: (id: string): Promise<void> => drop([id]),
    /** Whether a poll of these kinds has been due for at least `sinceMs`. */
    async isDue(kinds: PollSubject['kind'][], sinceMs: number): Promise<boolean> {
      const due = query
        .selectFrom('looks')
        .select('id')
        .where('due_at', '<=', now() - sinceMs);
      return (await due.where('kind', 'in', kinds).limit(1).executeTakeFirst()) !== undefined;
    },
  };

  async function pendingOf(ids: string[]): Promise<Map<string, string[]>> {
    const rows = await query
      .selectFrom('elicitations')
      .select(['id', 'look'])
      .where(isOneOf(query, 'look', ids))
      .where('status', '=', 'pending')
      .execute();
    const byPoll = Map.groupBy(rows, ({ look }) => look ?? '');
    return new Map([...byPoll].map(([poll, questions]) => [poll, questions.map(({ id }) => id)]));
  }

  async function move(ids: string[], ms: number): Promise<void> {
    const at = now();
    await query
      .updateTable('looks')
      .set({ due_at: at + ms })
      .where(isOneOf(query, 'id', ids))
      .execute();
  }

  async function drop(ids: string[]): Promise<void> {
    if (ids.length > 0)
      await query
        .deleteFrom('looks')
        .where(isOneOf(query, 'id', ids))
        .execute();
  }
}

/** In the transaction that opens the question. Questions of one round share a poll. */
export async function addPoll(
  write: Transaction<Tables>,
  { id, subject, firstMs }: NewPoll,
  now: number,
): Promise<void> {
  const { kind, server } = subject;
  const row = { id, kind, server, subject: JSON.stringify(subject), due_at: now + firstMs, looks: 0 };
  await insertNew(write, 'looks', row, ['id']);
}
