import { chmod, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openStorage } from '../../src/storage/open-storage.ts';
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts';
import { createSqliteLock } from '../../src/storage/sqlite/lock.ts';
import { sqliteDatabases } from './contract.ts';
import { begunTurn } from './contract/fixtures.ts';

const fresh = sqliteDatabases();

test('a lock whose holder died is free when its time is up, and one that is renewed is not', async () => {
  const database = await fresh();
  await (await openStorage(database)).close();
  const first = await openSqlite(database.path);
  const second = await openSqlite(database.path);
  const holdMs = 300;
  const release = await createSqliteLock(first.query, holdMs).acquire('name', 0);
  const lock = createSqliteLock(second.query, holdMs);
  expect(await lock.acquire('name', holdMs * 3)).toBeNull();

  await release?.();
  await second.query
    .insertInto('locks')
    .values({ name: 'name', owner: 'dead', expires_at: Date.now() + holdMs })
    .execute();
  const acquired = await lock.acquire('name', holdMs * 10);
  expect(acquired).not.toBeNull();
  await acquired?.();
  await Promise.all([first.close(), second.close()]);
});

test('a file that is deleted or replaced while it is open is noticed: what is written now would be lost', async () => {
  const database = await fresh();
  const storage = await openStorage(database);
  await storage.ping();
  await rm(database.path);
  await expect(storage.ping()).rejects.toThrow('interlude.db');
  const other = await openStorage(database);
  await other.ping();
  await expect(storage.ping()).rejects.toThrow('was replaced');
  await Promise.all([storage.close(), other.close()]);
});

test('a file that is no database is named in the error', async () => {
  const database = { ...(await fresh()), path: import.meta.filename };
  await expect(openStorage(database)).rejects.toThrow(
    /Cannot open the database .*sqlite\.test\.ts.*DATABASE_URL/,
  );
});

test('only its owner may read the file, wherever it is', async () => {
  const folder = path.dirname(path.dirname((await fresh()).path));
  const database = { kind: 'sqlite', path: path.join(folder, 'interlude.db') } as const;
  await (await openStorage(database)).close();
  await chmod(database.path, 0o644);
  const storage = await openStorage(database);
  await begunTurn(storage);
  for (const name of ['interlude.db', 'interlude.db-wal', 'interlude.db-shm'])
    expect([name, (await stat(path.join(folder, name))).mode & 0o777]).toEqual([name, 0o600]);
  await storage.close();
});

test('whatever refers to a row is found by an index when that row is deleted', async () => {
  const database = await fresh();
  await (await openStorage(database)).close();
  const file = new DatabaseSync(database.path);
  const columnsOf = (index: string) =>
    file
      .prepare(`pragma index_info('${index}')`)
      .all()
      .map(({ name }) => String(name));
  const references = file
    .prepare(
      `select tables.name as "table", keys.id, group_concat(keys."from") as columns
       from pragma_table_list as tables, pragma_foreign_key_list(tables.name) as keys
       where tables.schema = 'main' group by tables.name, keys.id`,
    )
    .all()
    .map(({ table, columns }) => ({ table: String(table), columns: String(columns) }));
  expect(references.length).toBeGreaterThan(5);
  const scans = references.filter(({ table, columns }) => {
    const indices = file.prepare(`pragma index_list('${table}')`).all();
    return !indices.some(({ name }) => `${columnsOf(String(name)).join()},`.startsWith(`${columns},`));
  });
  expect(scans).toEqual([]);
  file.close();
});
