/** Which errors of the real drivers are trouble that work waits for, and which are the fault of our own statement. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { TLSSocket } from 'node:tls';
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Backend } from '../../src/storage/database.ts';
import { createLocks } from '../../src/storage/locks.ts';
import { openPostgres } from '../../src/storage/postgres/open-postgres.ts';
import type { Tables } from '../../src/storage/schema.ts';
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
const whatFails = async (query: Kysely<Tables>, text: string) => errorOf(sql.raw(text).execute(query));

describe('SQLite', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'interlude-trouble-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('a file that is full, read-only or closed is trouble', async () => {
    const file = path.join(folder, 'trouble.db');
    const backend = await openSqlite(file);
    const { query } = backend;
    await sql.raw('create table things (id text primary key)').execute(query);
    await sql.raw('pragma max_page_count = 1').execute(query);
    const big = `insert into things values (hex(randomblob(100000)))`;
    expect(isDatabaseTrouble(await whatFails(query, big))).toBe(true);
    await sql.raw('pragma max_page_count = 4294967294').execute(query);
    await sql.raw('pragma query_only = true').execute(query);
    expect(isDatabaseTrouble(await whatFails(query, "insert into things values ('a')"))).toBe(true);
    await backend.close();
    expect(isDatabaseTrouble(await whatFails(query, 'select 1'))).toBe(true);
  });

  test('a damaged file is trouble', async () => {
    const file = path.join(folder, 'replaced.db');
    const backend = await openSqlite(file);
    await sql.raw('create table things (id text primary key)').execute(backend.query);
    await backend.close();
    const whole = await readFile(file);
    await writeFile(file, Buffer.concat([whole.subarray(0, 4096), Buffer.alloc(whole.length - 4096, 'x')]));
    const again = await openSqlite(file);
    expect(isDatabaseTrouble(await whatFails(again.query, 'select * from things'))).toBe(true);
    await again.close();
  });

  test.each([
    'select * from nothing',
    'select * frm things',
    "insert into things values ('a'), ('a')",
    'insert into things values (null)',
    "select json('{')",
    'select abs(-9223372036854775808)',
  ])('%s is our mistake', async (statement) => {
    const backend = await openSqlite(':memory:');
    await sql.raw('create table things (id text primary key not null)').execute(backend.query);
    expect(isDatabaseTrouble(await whatFails(backend.query, statement))).toBe(false);
    await backend.close();
  });
});

describe('PostgreSQL', () => {
  let url: URL;
  let backend: Backend;
  const role = `role_${randomBytes(4).toString('hex')}`;
  const otherUrl = (change: (other: URL) => void) => {
    const other = new URL(url);
    change(other);
    return other.href;
  };
  const asRole = () =>
    otherUrl((other) => {
      other.username = role;
      other.password = 'right';
    });
  beforeAll(async () => {
    url = new URL(await postgresUrl());
    backend = openPostgres(url.href, logger);
    await sql.raw(`create role ${role} login password 'right'`).execute(backend.query);
  });
  afterAll(async () => {
    await sql.raw(`drop role ${role}`).execute(backend.query);
    await backend.close();
  });

  const cannotConnect: [string, () => string | Promise<string>, string | undefined][] = [
    ['nothing listens', async () => `postgres://u:p@127.0.0.1:${await freePort()}/none`, 'ECONNREFUSED'],
    [
      'nothing listens at either address',
      async () => `postgres://u:p@localhost:${await freePort()}/none`,
      'ECONNREFUSED',
    ],
    ['its name is not known', () => 'postgres://u:p@database.invalid/none', 'ENOTFOUND'],
    ['the password is another one', () => asRole().replace('right', 'wrong'), '28P01'],
    ['the role is not known', () => asRole().replace(role, `${role}_other`), '28P01'],
    ['the database is not there', () => otherUrl((other) => (other.pathname = 'none')), '3D000'],
    ['it wants a password', () => asRole().replace(':right', ''), undefined],
    ['it has no TLS', () => otherUrl((other) => (other.search = '?sslmode=verify-full')), undefined],
    ['the address is none', () => 'postgres://u:p@[::1/none', 'ERR_INVALID_URL'],
  ];
  test.each(cannotConnect)('it is trouble that %s', async (_, urlOf, code) => {
    const away = openPostgres(await urlOf(), logger);
    const error = await whatFails(away.query, 'select 1');
    expect([isDatabaseTrouble(error), error]).toMatchObject([true, code === undefined ? {} : { code }]);
    const lock = errorOf(createLocks(away.lock).withLock('one', 1_000, async () => undefined));
    expect(isDatabaseTrouble(await lock)).toBe(true);
    await away.close();
  });

  test('it is trouble that the role may not log in, has too many connections, or lacks a privilege', async () => {
    const change = (text: string) => sql.raw(`alter role ${role} ${text}`).execute(backend.query);
    const limited = openPostgres(asRole(), logger);
    await change('connection limit 0');
    expect(await whatFails(limited.query, 'select 1')).toMatchObject({ code: '53300' });
    expect(isDatabaseTrouble(await whatFails(limited.query, 'select 1'))).toBe(true);
    await change('connection limit -1 nologin');
    expect(await whatFails(limited.query, 'select 1')).toMatchObject({ code: '28000' });
    expect(isDatabaseTrouble(await whatFails(limited.query, 'select 1'))).toBe(true);
    await change('login');
    expect(isDatabaseTrouble(await whatFails(limited.query, 'create table public.mine (id int)'))).toBe(true);
    await limited.close();
  });

  test('it is trouble that its certificate is not trusted', async () => {
    const tls = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url));
    const identity = { key: tls('key.pem'), cert: tls('certificate.pem') };
    const server = createServer((socket) => {
      // The client asks for TLS, and the server accepts.
      socket.once('data', () => {
        socket.write('S');
        new TLSSocket(socket, { isServer: true, ...identity }).on('error', () => socket.destroy());
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const away = openPostgres(`postgres://u:p@127.0.0.1:${port}/none?sslmode=verify-full`, logger);
    const error = await whatFails(away.query, 'select 1');
    expect([isDatabaseTrouble(error), error]).toMatchObject([true, { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }]);
    await away.close();
    server.close();
  });

  test('it is trouble that it ends the connection, is read-only, or was closed', async () => {
    const { query } = backend;
    expect(isDatabaseTrouble(await whatFails(query, 'select pg_terminate_backend(pg_backend_pid())'))).toBe(
      true,
    );
    const readOnly = openPostgres(`${url.href}?options=-c%20default_transaction_read_only%3Don`, logger);
    expect(await whatFails(readOnly.query, 'create table things (id int)')).toMatchObject({ code: '25006' });
    expect(isDatabaseTrouble(await whatFails(readOnly.query, 'create table things (id int)'))).toBe(true);
    await readOnly.close();
    expect(isDatabaseTrouble(await whatFails(readOnly.query, 'select 1'))).toBe(true);
  });

  const raise = (code: string) => `do $$ begin raise exception using errcode = '${code}'; end $$`;
  test.each(
    // What databases, standbys and poolers in front of them say; the last one is not known to PostgreSQL.
    '08000 08006 08P01 25006 25P03 28000 28P01 3D000 40001 40P01 42501 53100 53300 53400 55P03 57014 57P01 57P03 57P05 58030 XX000 XX001 ZZ999'.split(
      ' ',
    ),
  )('SQLSTATE %s is trouble', async (code) => {
    expect(isDatabaseTrouble(await whatFails(backend.query, raise(code)))).toBe(true);
  });
  test.each(
    '0A000 21000 22001 22003 22P02 23502 23503 23505 23514 25P02 2201B 34000 40002 42601 42703 42804 42P01 44000 54001 P0001 P0004'.split(
      ' ',
    ),
  )('SQLSTATE %s is our mistake', async (code) => {
    expect(isDatabaseTrouble(await whatFails(backend.query, raise(code)))).toBe(false);
  });

  test('a statement that fails in the middle of a transaction is our mistake, and so is committing over it', async () => {
    const { query } = backend;
    const whole = query.transaction().execute(async (step) => {
      await sql.raw('select 1/0').execute(step);
    });
    expect(isDatabaseTrouble(await errorOf(whole))).toBe(false);
    const swallowed = query.transaction().execute((step) => errorOf(sql.raw('select 1/0').execute(step)));
    expect(isDatabaseTrouble(await errorOf(swallowed))).toBe(false);
    const circular: { self?: object } = {};
    circular.self = circular;
    const parameter = sql`select ${circular}::jsonb`.execute(query);
    expect(await errorOf(parameter)).toBeInstanceOf(Error);
    expect(isDatabaseTrouble(await errorOf(parameter))).toBe(false);
  });
});

test('what has nothing to do with the database is never its trouble', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  for (const one of [refused, new TypeError('undefined is not a function'), null, 'away', { code: 'EPIPE' }])
    expect(isDatabaseTrouble(one)).toBe(false);
});

test('trouble is recognised behind the error that it was wrapped in', async () => {
  const away = openPostgres(`postgres://u:p@127.0.0.1:${await freePort()}/none`, logger);
  const cause = await whatFails(away.query, 'select 1');
  expect(isDatabaseTrouble(new Error('could not look', { cause }))).toBe(true);
  await away.close();
});
