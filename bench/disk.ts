/** What a turn with a question leaves in the database, by table, with its indexes. */
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Config } from '../src/platform/config/config.ts';
import { createLogger } from '../src/platform/telemetry/logger.ts';
import { openPostgres } from '../src/storage/postgres/open-postgres.ts';
import { say } from './doubles/model.ts';
import { eachOf } from './each-of.ts';
import type { Row, Section } from './report.ts';
import type { BenchSetup } from './setup.ts';

/** Enough that first pages do not count: an index of PostgreSQL has two when it is empty. */
const turns = 400;
const atOnce = 4;
const shown = 6;
/** Ended turns are merged by the process that ends them. */
const mergeMs = 3_000;

export async function disk({ service, newUser }: BenchSetup): Promise<Section> {
  const { database } = service.config;
  // Each user is asked for an account once.
  const one = async () => {
    const user = await newUser();
    const asking = await user.chat(say.callTool);
    await service.connectAccounts([user.name]);
    await user.accept(asking);
    await asking.rest();
  };
  await one();
  const before = await bytesByTable(database);
  await eachOf(turns, atOnce, one);
  await sleep(mergeMs);
  const after = await bytesByTable(database);
  after.delete('connections');
  const grown = [...after]
    .map(([table, bytes]) => ({ table, kib: (bytes - (before.get(table) ?? 0)) / turns / 1024 }))
    .toSorted((first, second) => second.kib - first.kib);
  const rows = grown.slice(0, shown).map(({ table, kib }): Row => {
    return { name: table, meaning: 'with its indexes', ours: [kib], unit: 'KiB' };
  });
  const total = grown.reduce((sum, { kib }) => sum + kib, 0);
  return {
    title: `What a turn with a question leaves in ${database.kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'}`,
    rows: [
      { name: 'turn', meaning: 'all tables and indexes, without the account', ours: [total], unit: 'KiB' },
      ...rows,
    ],
  };
}

async function bytesByTable(database: Config['database']): Promise<Map<string, number>> {
  if (database.kind === 'sqlite') {
    using file = new DatabaseSync(database.path, { readOnly: true });
    const rows = file
      .prepare(
        `select tbl_name as name, sum(pgsize) as bytes from dbstat
         join sqlite_schema on sqlite_schema.name = dbstat.name group by tbl_name`,
      )
      .all();
    return new Map(rows.map(({ name, bytes }) => [String(name), Number(bytes)]));
  }
  const opened = openPostgres(database.url, createLogger({ level: 'error', human: true }));
  try {
    await sql`vacuum full`.execute(opened.query);
    const { rows } = await sql<{ name: string; bytes: number }>`
      select relname as name, pg_total_relation_size(relid) as bytes from pg_stat_user_tables`.execute(
      opened.query,
    );
    return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
  } finally {
    await opened.close();
  }
}
