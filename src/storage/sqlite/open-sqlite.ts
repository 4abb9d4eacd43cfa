import { closeSync, mkdirSync, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import type { Backend } from '../database.ts';
import { migrate } from '../migrations/migrate.ts';
import { makePrivate } from '../private-files.ts';
import { reportingDialect } from '../transient-errors.ts';
import { sqliteDialect } from './dialect.ts';
import type { SqliteConnections } from './dialect.ts';
import { createSqliteLock } from './lock.ts';
import { whenNotBusy } from './writer.ts';
import type { Tables } from '../schema.ts';

export async function openSqlite(file: string): Promise<Backend> {
  const query = new Kysely<Tables>({ dialect: reportingDialect(sqliteDialect(await openFile(file))) });
  const opened = await identityOf(file);
  return {
    query,
    migrate: () => migrate(query),
    // Writers of this process notify directly; writes of other processes to the file are found by polling.
    channel: null,
    endingsChannel: null,
    lock: createSqliteLock(query),
    pollMs: 50,
    async version() {
      const { rows } = await sql<{ data_version: number }>`pragma data_version`.execute(query);
      return rows[0]?.data_version ?? NaN;
    },
    // Processes that have a deleted file open can still read and write it, but its content is lost.
    async checkFile() {
      if ((await identityOf(file)) !== opened) throw new Error(`${file} was replaced while it was in use.`);
    },
    close: () => query.destroy(),
  };
}

/** Opens the file for durable, shared use; creates its folder if needed. */
async function openFile(file: string): Promise<SqliteConnections> {
  if (file !== ':memory:') {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    // It contains what people said. SQLite gives the files beside it the same mode.
    closeSync(openSync(file, 'a', 0o600));
  }
  const writer = new DatabaseSync(file, { timeout: 0, enableForeignKeyConstraints: true });
  try {
    await whenNotBusy(() => writer.exec('pragma journal_mode = wal'));
    writer.exec('pragma synchronous = full');
    if (file !== ':memory:') makePrivate(file);
    const reader = file === ':memory:' ? writer : new DatabaseSync(file, { timeout: 0, readOnly: true });
    return { writer, reader };
  } catch (error) {
    writer.close();
    throw error;
  }
}

async function identityOf(file: string): Promise<string> {
  if (file === ':memory:') return file;
  const { dev, ino } = await stat(file);
  return `${dev}/${ino}`;
}
