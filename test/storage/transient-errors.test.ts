/** Which errors of the real drivers are transient, so that the work is retried, and which are bugs. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CompiledQuery, sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openPostgres } from '../../src/storage/postgres/open-postgres.ts';
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts';
import { isDatabaseTrouble } from '../../src/storage/transient-errors.ts';
import { freePort } from '../free-port.ts';
import { postgresUrl } from '../postgres.ts';

const logger = pino({ level: 'silent' });
const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

test('SQLite: a file that is busy, that cannot be written, or is closed', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-trouble-'));
  const file = path.join(folder, 'test.db');
  const backend = await openSqlite(file);
  const other = new DatabaseSync(file, { timeout: 0 });
  other.exec('create table things (id text primary key)');
  const third = new DatabaseSync(file, { timeout: 0 });
  other.exec('begin immediate');
  const write = () => third.exec("insert into things values ('a')");
  expect(isDatabaseTrouble(thrownBy(write))).toBe(true);
  other.exec('commit');
  third.exec('pragma query_only = true');
  expect(isDatabaseTrouble(thrownBy(write))).toBe(true);
  third.close();
  expect(isDatabaseTrouble(thrownBy(write))).toBe(true);

  const { query } = backend;
  expect(isDatabaseTrouble(await errorOf(sql`select * from nothing`.execute(query)))).toBe(false);
  await query.executeQuery(CompiledQuery.raw("insert into things values ('b')"));
  const again = query.executeQuery(CompiledQuery.raw("insert into things values ('b')"));
  expect(isDatabaseTrouble(await errorOf(again))).toBe(false);
  await backend.close();
  expect(isDatabaseTrouble(await errorOf(sql`select 1`.execute(query)))).toBe(true);
  other.close();
  await rm(folder, { recursive: true });
});

test('PostgreSQL: one that is not there, ends a connection, or lets a deadlock lose', async () => {
  const unreachable = openPostgres(`postgres://u:p@localhost:${await freePort()}/none`, logger);
  expect(isDatabaseTrouble(await errorOf(sql`select 1`.execute(unreachable.query)))).toBe(true);
  await unreachable.close();

  const backend = openPostgres(await postgresUrl(), logger);
  const { query } = backend;
  const killed = sql`select pg_terminate_backend(pg_backend_pid())`.execute(query);
  expect(isDatabaseTrouble(await errorOf(killed))).toBe(true);
  const raised = (code: string) =>
    errorOf(sql.raw(`do $$ begin raise exception using errcode = '${code}'; end $$`).execute(query));
  for (const code of ['40001', '40P01', '55P03', '53100', '57P01'])
    expect([code, isDatabaseTrouble(await raised(code))]).toEqual([code, true]);
  for (const code of ['23505', '42P01', '22001'])
    expect([code, isDatabaseTrouble(await raised(code))]).toEqual([code, false]);
  await backend.close();
  expect(isDatabaseTrouble(await errorOf(sql`select 1`.execute(query)))).toBe(true);
});

test('anything else is a mistake', () => {
  for (const one of [new TypeError('undefined is not a function'), null, 'away', { code: 'EPIPE' }])
    expect(isDatabaseTrouble(one)).toBe(false);
});

function thrownBy(work: () => void): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}
