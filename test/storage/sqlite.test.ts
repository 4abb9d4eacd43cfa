import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openStorage } from '../../src/storage/database.ts';
import { openSqlite } from '../../src/storage/sqlite.ts';
import { createSqliteLock } from '../../src/storage/sqlite-lock.ts';
import { storageContract } from './contract.ts';
import type { DatabaseConfig } from './contract.ts';

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

async function fresh() {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-storage-'));
  folders.push(folder);
  return { kind: 'sqlite', path: path.join(folder, 'data', 'interlude.db') } satisfies DatabaseConfig;
}

storageContract(fresh);

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

test('a file that is no database is named in the error', async () => {
  const database = { ...(await fresh()), path: import.meta.filename };
  await expect(openStorage(database)).rejects.toThrow(
    /Cannot open the database .*sqlite\.test\.ts.*DATABASE_URL/,
  );
});
