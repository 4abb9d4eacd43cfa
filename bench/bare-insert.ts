/** The least that a durable write costs: one insert and its commit, on the service's database or disk. */
import { rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { Config } from '../src/platform/config/config.ts';

export async function bareInsert(
  database: Config['database'],
): Promise<AsyncDisposable & { run: () => Promise<unknown> }> {
  const create = 'create table if not exists floor (id integer, event text)';
  const insert = `insert into floor values (1, 'a few words')`;
  if (database.kind === 'postgres') {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(create);
    return { run: () => client.query(insert), [Symbol.asyncDispose]: () => client.end() };
  }
  // A file of its own beside the service's: nothing else locks it.
  const file = `${database.path}.floor-${process.pid}`;
  const own = new DatabaseSync(file);
  own.exec(`pragma journal_mode = wal; pragma synchronous = full; ${create}`);
  return {
    run: async () => own.exec(insert),
    async [Symbol.asyncDispose]() {
      own.close();
      await rm(file);
    },
  };
}
