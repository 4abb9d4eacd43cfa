/**
 * The tests in `contract/` say what every database must do: SQLite and PostgreSQL; in the full suite a pooler, and before a
 * release a pooler with a direct address.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import type { Config } from '../../src/platform/config/config.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { findPgBouncer, startPgBouncer } from '../pgbouncer.ts';
import type { PgBouncer } from '../pgbouncer.ts';
import { postgresUrl } from '../postgres.ts';
import type { Order, Task } from './child.ts';

const suite = inject('suite');

export type DatabaseConfig = Config['database'];

export interface Subject {
  /** Two storages on one database, as two processes would have. */
  storage: Storage;
  other: Storage;
  database: DatabaseConfig;
  fresh: () => Promise<DatabaseConfig>;
}

/** Registers the tests once for each database. */
export function onEachDatabase(tests: (subject: () => Subject) => void): void {
  if (suite !== 'daily') return behindPooler(tests);
  describe('SQLite', () => {
    onDatabase(tests, sqliteDatabases());
  });
  describe('PostgreSQL', () => {
    onDatabase(tests, freshPostgres);
  });
}

/** Makes SQLite databases, and removes them after the tests. */
export function sqliteDatabases() {
  const folders: string[] = [];
  afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));
  return async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'interlude-storage-'));
    folders.push(folder);
    return { kind: 'sqlite', path: path.join(folder, 'data', 'interlude.db') } satisfies DatabaseConfig;
  };
}

export async function freshPostgres() {
  return { kind: 'postgres', url: await postgresUrl() } satisfies DatabaseConfig;
}

/** Another process on the database, which runs `child.ts`. */
export function startChild(
  database: DatabaseConfig,
  task: Task,
  env: Record<string, string> = {},
): ChildProcess {
  const order: Order = { database, task };
  const options = { env: { ...process.env, ...env } };
  return fork(path.join(import.meta.dirname, 'child.ts'), [JSON.stringify(order)], options);
}

const found = suite === 'daily' ? undefined : await findPgBouncer();

function behindPooler(tests: (subject: () => Subject) => void): void {
  let pooler: PgBouncer;
  const isDirect = suite === 'release';
  const how = isDirect ? 'with a direct address' : 'alone';
  describe.skipIf(found?.kind !== 'ready')(`a pooler in transaction mode, ${how}`, () => {
    beforeAll(async () => {
      if (found?.kind === 'ready') pooler = await startPgBouncer(found, await postgresUrl());
    });
    afterAll(() => pooler?.[Symbol.asyncDispose]());
    onDatabase(tests, async () => {
      const url = await postgresUrl();
      return { kind: 'postgres', url: pooler.through(url), directUrl: isDirect ? url : undefined };
    });
  });
}

function onDatabase(tests: (subject: () => Subject) => void, fresh: () => Promise<DatabaseConfig>): void {
  let subject: Subject | undefined;
  beforeAll(async () => {
    const database = await fresh();
    subject = { storage: await openStorage(database), other: await openStorage(database), database, fresh };
  });
  afterAll(async () => {
    await subject?.storage.close();
    await subject?.other.close();
  });
  tests(() => {
    if (!subject) throw new Error('the database is opened before the tests run');
    return subject;
  });
}
