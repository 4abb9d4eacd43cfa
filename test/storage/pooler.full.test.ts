/** PostgreSQL behind a pooler in transaction mode: with a direct address for what needs one, and without. */
import { once } from 'node:events';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { StorageOptions } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { findPgBouncer, poolSize, startPgBouncer } from '../pgbouncer.ts';
import type { PgBouncer } from '../pgbouncer.ts';
import { postgresUrl } from '../postgres.ts';
import { startChild } from './contract.ts';
import type { DatabaseConfig } from './contract.ts';
import { begunTurn, step, text, upTo } from './contract/fixtures.ts';

const found = await findPgBouncer();
let pooler: PgBouncer;

beforeAll(async () => {
  if (found.kind === 'ready') pooler = await startPgBouncer(found, await postgresUrl());
});
afterAll(() => pooler?.[Symbol.asyncDispose]());

type Postgres = Extract<DatabaseConfig, { kind: 'postgres' }>;
const never = 2 ** 30;
const alice = { tenant: 'acme', server: 'tracker', user: 'alice' };

/** A new database, by its two addresses. */
async function fresh(): Promise<{ url: string; pooled: string }> {
  const url = await postgresUrl();
  return { url, pooled: pooler.through(url) };
}

async function open(database: Postgres, options: StorageOptions = {}): Promise<Storage> {
  const storage = await openStorage(database, options);
  onTestFinished(() => storage.close());
  return storage;
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

async function follow(storage: Storage, turn: Awaited<ReturnType<typeof begunTurn>>) {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const batches = storage.turnLog.follow(turn, 1, controller.signal)[Symbol.asyncIterator]();
  return async () => {
    const { value } = (await batches.next()) as { value: { seq: number }[] };
    return value.map(({ seq }) => seq);
  };
}

/** What each server connection of the pool has kept from its clients. */
async function leftBehind({ url, pooled }: { url: string; pooled: string }) {
  const clients = await Promise.all(upTo(poolSize).map(() => connect(pooled)));
  const found: unknown[] = [];
  for (const client of clients) {
    // Until the end of the test it has this server connection for itself.
    await client.query('begin');
    const { rows } = await client.query<{
      pid: number;
      settings: object;
      channels: string[];
      prepared: number;
    }>(
      `select pg_backend_pid() as pid, (select count(*)::int from pg_prepared_statements) as prepared,
         array(select pg_listening_channels()) as channels,
         (select json_object_agg(name, setting) from pg_settings where name like '%timeout' and source = 'session') as settings`,
    );
    found.push(...rows);
  }
  expect(new Set(found.map((row) => (row as { pid: number }).pid)).size).toBe(poolSize);
  const locks = await (
    await connect(url)
  ).query(
    `select objid from pg_locks where locktype = 'advisory'
       and database = (select oid from pg_database where datname = current_database())`,
  );
  return {
    locks: locks.rows,
    connections: found.map((row) => ({ ...(row as object), pid: undefined })),
  };
}

const nothing = {
  locks: [],
  connections: upTo(poolSize).map(() => ({ pid: undefined, settings: null, channels: [], prepared: 0 })),
};

describe.skipIf(found.kind === 'missing').each([
  { how: 'alone', isDirect: false },
  { how: 'with a direct address', isDirect: true },
])('a pooler in transaction mode, $how', ({ isDirect }) => {
  async function setUp() {
    const { url, pooled } = await fresh();
    const database: Postgres = { kind: 'postgres', url: pooled, directUrl: isDirect ? url : undefined };
    return { url, pooled, database };
  }

  test(
    'another client of the pool finds nothing of ours on its server connection',
    { timeout: 120_000 },
    async () => {
      const { url, pooled, database } = await setUp();
      const [one, other] = [await open(database), await open(database)];
      await Promise.all(
        upTo(20).map(async (index) => {
          const storage = index % 2 ? one : other;
          const turn = await begunTurn(storage);
          const next = await follow(storage, turn);
          await storage.connections.withLock({ ...alice, user: `user-${index % 4}` }, 20_000, () =>
            storage.turnLog.append(turn, [text('a')]),
          );
          expect(await next()).toEqual([2]);
        }),
      );
      expect(await leftBehind({ url, pooled })).toEqual(nothing);
    },
  );

  test(
    'work under one lock never overlaps while others shuffle the server connections',
    { timeout: 120_000 },
    async () => {
      const { database } = await setUp();
      const storages = await Promise.all(upTo(4).map(() => open(database)));
      let inside = 0;
      let most = 0;
      const work = async (storage: Storage) => {
        most = Math.max(most, (inside += 1));
        await Promise.all(storages.map((each) => each.ping()));
        await begunTurn(storage);
        inside -= 1;
      };
      const shuffling = storages.flatMap((storage) => upTo(5).map(() => begunTurn(storage)));
      const locked = storages.flatMap((storage) =>
        upTo(3).map(() => storage.connections.withLock(alice, 20_000, () => work(storage))),
      );
      await Promise.all([...shuffling, ...locked]);
      expect(most).toBe(1);
    },
  );

  test(
    'more locks than the pool has connections are held one after the other, and never by each other’s work',
    { timeout: 120_000 },
    async () => {
      const { database } = await setUp();
      const storages = await Promise.all(upTo(3).map(() => open(database)));
      await Promise.all(
        storages.flatMap((storage, index) =>
          upTo(6).map((n) =>
            storage.connections.withLock({ ...alice, server: `s${index}-${n}` }, 20_000, () =>
              begunTurn(storage),
            ),
          ),
        ),
      );
    },
  );

  test('the lock of a process that was killed is free at once', async () => {
    const { database } = await setUp();
    const storage = await open(database);
    const child = startChild(database, { kind: 'hold-lock', key: alice });
    expect((await once(child, 'message'))[0]).toBe('held');
    await expect(storage.connections.withLock(alice, 100, () => Promise.resolve())).rejects.toThrow(
      'held the lock',
    );
    const waiting = storage.connections.withLock(alice, 10_000, () => Promise.resolve('mine'));
    child.kill('SIGKILL');
    expect(await waiting).toBe('mine');
  });

  test('a lock outlives the time that the database gives idle transactions', async () => {
    const { url, database } = await setUp();
    const name = new URL(url).pathname.slice(1);
    const limit = `alter database ${name} set idle_in_transaction_session_timeout = '200ms'`;
    await (await connect(url)).query(limit);
    const [storage, other] = [await open(database), await open(database)];
    const idle = new pg.Client({ connectionString: url });
    idle.on('error', () => undefined);
    const ended = new Promise<void>((resolve) => idle.once('end', () => resolve()));
    await idle.connect();
    await storage.connections.withLock(alice, 1_000, async () => {
      await idle.query('begin');
      await ended;
      const waiting = other.connections.withLock(alice, 50, () => Promise.resolve());
      await expect(waiting).rejects.toThrow('held the lock');
    });
  });

  test(
    'processes that start on an empty database at once bring it up together',
    { timeout: 120_000 },
    async () => {
      const { database } = await setUp();
      const children = upTo(2).map(() => startChild(database, { kind: 'open' }));
      const exits = children.map(async (child) => (await once(child, 'exit'))[0] as number);
      const storages = await Promise.all(upTo(8).map(() => open(database)));
      expect(await Promise.all(exits)).toEqual([0, 0]);
      for (const storage of storages) await begunTurn(storage);
    },
  );

  test(
    'a migration that fails leaves no lock, and the next process tries it again',
    { timeout: 120_000 },
    async () => {
      const { url, pooled, database } = await setUp();
      const client = await connect(url);
      await client.query('create view conversations as select 1 as in_the_way');
      const failed = await Promise.allSettled(upTo(8).map(() => openStorage(database)));
      for (const { status } of failed) expect(status).toBe('rejected');
      await client.query('drop view conversations');
      await begunTurn(await open(database));
      expect((await leftBehind({ url, pooled })).locks).toEqual([]);
    },
  );
});

describe.skipIf(found.kind === 'missing')('events of other processes', () => {
  test('come as notifications over the direct address, without polling', async () => {
    const { url, pooled } = await fresh();
    const database: Postgres = { kind: 'postgres', url: pooled, directUrl: url };
    const [reader, writer] = [await open(database, { pollMs: never }), await open(database)];
    const turn = await begunTurn(writer);
    const next = await follow(reader, turn);
    for (const seq of [2, 3, 4]) {
      await writer.turnLog.append(turn, [step(seq)]);
      expect(await next()).toEqual([seq]);
    }
  });

  test('are looked for where there is none, which is said once at start', async () => {
    const { pooled } = await fresh();
    const lines: string[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(line) });
    const database: Postgres = { kind: 'postgres', url: pooled };
    const [reader, writer] = [await open(database, { logger }), await open(database)];
    const turn = await begunTurn(writer);
    const next = await follow(reader, turn);
    for (const seq of [2, 3]) {
      await writer.turnLog.append(turn, [step(seq)]);
      expect(await next()).toEqual([seq]);
    }
    expect(lines).toEqual([expect.stringContaining('set DATABASE_DIRECT_URL')]);
  });

  test('come as notifications where DATABASE_URL is the database itself, and nothing is said', async () => {
    const { url } = await fresh();
    const lines: string[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(line) });
    const database: Postgres = { kind: 'postgres', url };
    const [reader, writer] = [await open(database, { logger, pollMs: never }), await open(database)];
    const turn = await begunTurn(writer);
    const next = await follow(reader, turn);
    await writer.turnLog.append(turn, [step(2)]);
    expect(await next()).toEqual([2]);
    expect(lines).toEqual([]);
  });
});

describe.skipIf(found.kind === 'missing')('a pooler in another mode', () => {
  async function through(mode: 'session' | 'statement', url: string): Promise<string> {
    if (found.kind === 'missing') throw new Error(found.why);
    const other = await startPgBouncer(found, url, mode);
    onTestFinished(() => other[Symbol.asyncDispose]());
    return other.through(url);
  }

  test('passes notifications in session mode, where it is given as the direct address as well', async () => {
    const url = await postgresUrl();
    const pooled = await through('session', url);
    const database: Postgres = { kind: 'postgres', url: pooled, directUrl: pooled };
    const [reader, writer] = [await open(database, { pollMs: never }), await open({ kind: 'postgres', url })];
    const turn = await begunTurn(writer);
    const next = await follow(reader, turn);
    for (const seq of [2, 3, 4]) {
      await writer.turnLog.append(turn, [step(seq)]);
      expect(await next()).toEqual([seq]);
    }
  });

  test('is refused in statement mode, with its own reason', async () => {
    const url = await through('statement', await postgresUrl());
    const opening = openStorage({ kind: 'postgres', url });
    await expect(opening).rejects.toThrow(/statement pooling mode.*Check DATABASE_URL/);
  });
});

describe.concurrent('a direct address is refused, without its password', () => {
  const withPassword = (url: string) => {
    const secret = new URL(url);
    secret.password = 'hunter2';
    return secret.href;
  };
  const refusal = async (url: string, directUrl: string) => {
    const opened = openStorage({ kind: 'postgres', url, directUrl: withPassword(directUrl) });
    const error = await opened.then(
      () => new Error('opened'),
      (reason: unknown) => reason as Error,
    );
    expect(error.message).not.toContain('hunter2');
    return error.message;
  };

  test('when it is another database', async () => {
    const [url, other] = [await postgresUrl(), await postgresUrl()];
    expect(await refusal(url, other)).toMatch(
      /^DATABASE_DIRECT_URL \(127.0.0.1:\d+\/\w+\): notifications .* do not arrive there; write the address of the same database/,
    );
  });

  test.skipIf(found.kind === 'missing')('when it is a pooler as well', async () => {
    const { pooled } = await fresh();
    expect(await refusal(pooled, pooled)).toContain('past every pooler');
  });

  test('when it cannot be reached', async () => {
    const refused = await refusal(await postgresUrl(), 'postgres://interlude@127.0.0.1:1/nowhere');
    expect(refused).toMatch(
      /^DATABASE_DIRECT_URL \(127\.0\.0\.1:1\/nowhere\): it cannot be used: .*ECONNREFUSED/,
    );
  });

  test('when it demands the TLS that the server does not have, as DATABASE_URL is', async () => {
    const url = await postgresUrl();
    expect(await refusal(url, `${url}?sslmode=require`)).toContain('does not support SSL');
    await expect(openStorage({ kind: 'postgres', url: `${url}?sslmode=require` })).rejects.toThrow(
      'does not support SSL',
    );
  });
});
