/** What each process has counted for the limits that all share; see ../counts.ts. */
import { chunks } from '../log/append.ts';
import { isOneOf } from '../database.ts';
import type { Database } from '../database.ts';

interface Exchange {
  process: string;
  /** The process's own counts that have changed, as they are now. */
  own: { name: string; amount: number; until: number }[];
  /** The names to read the other processes' counts of. */
  names: string[];
  /** Whether to delete rows that no longer count. */
  forgetsOld: boolean;
}

export async function exchangeCounts(
  { query, now }: Database,
  { process, own, names, forgetsOld }: Exchange,
): Promise<Map<string, { others: number; othersUntil: number }>> {
  const at = now();
  if (forgetsOld) await query.deleteFrom('shared_counts').where('until', '<=', at).execute();
  for (const some of chunks(own)) {
    await query
      .insertInto('shared_counts')
      .values(some.map((count) => ({ process, ...count })))
      .onConflict((same) =>
        same
          .columns(['name', 'process'])
          .doUpdateSet((row) => ({ amount: row.ref('excluded.amount'), until: row.ref('excluded.until') })),
      )
      .execute();
  }
  if (names.length === 0) return new Map();
  const rows = await query
    .selectFrom('shared_counts')
    .select(({ fn }) => ['name', fn.sum('amount').as('others'), fn.min('until').as('othersUntil')])
    .where(isOneOf(query, 'name', names))
    .where('process', '!=', process)
    .where('until', '>', at)
    .where('amount', '>', 0)
    .groupBy('name')
    .execute();
  return new Map(
    rows.map(({ name, others, othersUntil }) => [
      name,
      { others: Number(others), othersUntil: Number(othersUntil) },
    ]),
  );
}
