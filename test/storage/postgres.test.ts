import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { sql } from 'kysely';
import pg from 'pg';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openStorage } from '../../src/storage/open-storage.ts';
import { openPostgres } from '../../src/storage/postgres/open-postgres.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { LogEntry } from '../../src/turn/event.ts';
import type { TurnRef } from '../../src/turn/turn.ts';
import { startTcpProxy } from '../servers/tcp-proxy.ts';
import { freshPostgres as fresh, startChild } from './contract.ts';
import { begunTurn, keptStep, newTurn, step, text } from './contract/fixtures.ts';
import type { Times } from './child.ts';
import { shiftedClock } from '../shifted-clock.ts';
import { open, question } from './contract/question.ts';

const never = 2 ** 30;

async function following(pollMs: number) {
  const database = await fresh();
  const reader = await openStorage(database, { pollMs });
  const writer = await openStorage(database);
  const turn = await begunTurn(writer);
  const controller = new AbortController();
  const batches = reader.turnLog.follow(turn, 1, controller.signal)[Symbol.asyncIterator]();
  return {
    database,
    writer,
    turn,
    next: async () => ((await batches.next()).value as LogEntry[] | undefined)?.map(({ seq }) => seq),
    async [Symbol.asyncDispose]() {
      controller.abort();
      await Promise.all([reader.close(), writer.close()]);
    },
  };
}

test(
  'a hold that has run out during an outage counts until its holder could have renewed it',
  { timeout: 90_000 },
  async () => {
    const database = await fresh();
    const url = new URL(database.url);
    const line = await startTcpProxy({ to: Number(url.port) });
    url.port = String(line.port);
    const holder = await openStorage(database);
    const taker = await openStorage({ kind: 'postgres', url: url.href });
    onTestFinished(async () => {
      await Promise.all([holder.close(), taker.close()]);
      await line.stop();
    });
    const turn = await begunTurn(holder);
    const call = { toolCallId: 'c1', toolName: 'tracker__list', input: {} };
    await keptStep(holder, turn, { calls: [call] });
    const by = (attempt: number) => ({ execution: 0, attempt });
    const holdMs = 2_000;
    const take = (attempt: number) => taker.toolCalls.take(turn, 'c1', by(attempt), holdMs);
    const hold = (attempt: number, ms: number) => holder.toolCalls.hold(turn, 'c1', ms, by(attempt));
    const isTaken = async (attempt: number) => (await take(attempt))?.isHeld !== true;
    await hold(1, -1);
    await expect.poll(() => isTaken(2)).toBe(true);
    await hold(2, 60_000);
    expect(await isTaken(3)).toBe(false);
    line.refuse();
    line.cut();
    await expect(take(3)).rejects.toThrow('ECONNRESET');
    // As after an outage that was longer than a hold.
    await hold(2, -1);
    line.accept();
    expect(await isTaken(3)).toBe(false);
    await expect.poll(() => isTaken(3)).toBe(true);
  },
);

test.each([-5, 5])(
  'a process whose clock is %i minutes wrong keeps the times of the database, and warns once',
  { timeout: 60_000 },
  async (minutes) => {
    const database = await fresh();
    const storage = await openStorage(database);
    const shiftMs = minutes * 60_000;
    await begunTurn(storage);
    const turn = newTurn();
    const child = startChild(database, { kind: 'tell-time', turn }, shiftedClock(shiftMs));
    const [told] = (await once(child, 'message')) as [string];
    const times = JSON.parse(told) as Times;
    const off = (ms: number) => Math.abs(ms) < 5_000;
    expect(times.wall - Date.now() - shiftMs, 'the process has another clock').toSatisfy(off);
    expect(times.due, 'what is not due yet').toEqual([]);
    expect(await storage.turns.claimDue(10, 60_000), 'what the process has begun').toEqual([]);
    expect(times.now - Date.now()).toSatisfy(off);
    expect((times.aheadMs ?? 0) - shiftMs).toSatisfy(off);
    expect(times.warnings).toEqual([expect.stringContaining('synchronise both with NTP')]);
    expect(storage.clockAheadMs()).toSatisfy(off);
    await storage.close();
  },
);

async function execute(url: string, statement: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(statement, values);
  } finally {
    await client.end();
  }
}

test('a follower is woken by a notification from another process, without polling', async () => {
  await using log = await following(never);
  for (const seq of [2, 3, 4, 5, 6]) {
    const next = log.next();
    await log.writer.turnLog.append(log.turn, [step(seq)]);
    expect(await next).toEqual([seq]);
  }
});

test('an event whose notification was lost is found by polling', async () => {
  await using log = await following(50);
  const { tenant, conversation, turnId } = log.turn;
  for (const seq of [2, 3]) {
    const next = log.next();
    await execute(
      log.database.url,
      `with counted as (
         update conversations set last_seq = last_seq + 1 where tenant = $1 and conversation = $2 returning last_seq
       )
       insert into turn_events (tenant, conversation, seq, turn_id, key, event)
       select $1, $2, last_seq, $3, 'unannounced/' || last_seq, '{"type":"start-step","step":1}' from counted`,
      [tenant, conversation, turnId],
    );
    expect(await next).toEqual([seq]);
  }
});

test('a follower outlives the loss of every database connection, and is notified again afterwards', async () => {
  await using log = await following(never);
  const before = log.next();
  await log.writer.turnLog.append(log.turn, [step(2)]);
  expect(await before).toEqual([2]);
  const next = log.next();
  await execute(
    log.database.url,
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'interlude'`,
  );
  const append = async () => log.writer.turnLog.append(log.turn, [step(3)]);
  // The writer's pool may still hand out a connection that it has not noticed is dead.
  await append().catch(append).catch(append);
  expect(await next).toEqual([3]);
  for (const seq of [4, 5]) {
    const after = log.next();
    await log.writer.turnLog.append(log.turn, [step(seq)]);
    expect(await after).toEqual([seq]);
  }
});

/** Both want the conversation's row, in this order; what each did before that, it did without waiting for the other. */
async function inTurn(
  url: string,
  turn: TurnRef,
  first: () => Promise<unknown>,
  then: () => Promise<unknown>,
) {
  const blocker = new pg.Client({ connectionString: url });
  await blocker.connect();
  await blocker.query('begin');
  const { tenant, conversation } = turn;
  const row = 'select 1 from conversations where tenant = $1 and conversation = $2 for update';
  await blocker.query(row, [tenant, conversation]);
  const waiting = async () => {
    const { rows } = await execute(
      url,
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows.length;
  };
  const works: Promise<PromiseSettledResult<unknown>[]>[] = [];
  for (const work of [first, then]) {
    works.push(Promise.allSettled([work()]));
    await expect.poll(waiting, { interval: 5 }).toBe(works.length);
  }
  await blocker.query('commit');
  await blocker.end();
  return (await Promise.all(works)).flat();
}

async function askingAndEnding(stack: AsyncDisposableStack) {
  const database = await fresh();
  const [asking, ending] = [await openStorage(database), await openStorage(database)];
  for (const storage of [asking, ending]) stack.defer(() => storage.close());
  const turn = await begunTurn(asking);
  return { url: database.url, asking, ending, turn };
}

async function storyOf({ turnLog }: Storage, turn: TurnRef): Promise<string[]> {
  const entries = await turnLog.read(turn, 1);
  return entries.map(({ event }) => (event.type === 'elicitation-request' ? event.status : event.type));
}

test('a question that opens just before its turn ends is closed with it', async () => {
  await using stack = new AsyncDisposableStack();
  const { url, asking, ending, turn } = await askingAndEnding(stack);
  const row = question(turn);
  await inTurn(
    url,
    turn,
    () => open(asking, row),
    () => ending.turns.end(turn, 'cancelled'),
  );
  expect(await asking.elicitations.get(row.id)).toMatchObject({ status: 'cancel' });
  expect(await storyOf(asking, turn)).toEqual(['pending', 'cancel', 'turn-ended']);
});

test('a question that comes just after the end of its turn is refused', async () => {
  await using stack = new AsyncDisposableStack();
  const { url, asking, ending, turn } = await askingAndEnding(stack);
  const row = question(turn);
  const [, opened] = await inTurn(
    url,
    turn,
    () => ending.turns.end(turn, 'cancelled'),
    () => open(asking, row),
  );
  expect(opened).toMatchObject({ status: 'fulfilled', value: { kind: 'over' } });
  expect(await asking.elicitations.get(row.id)).toBeNull();
  expect(await storyOf(asking, turn)).toEqual(['turn-ended']);
});

test('the calls of a step that is kept just before its turn ends are closed with it', async () => {
  await using stack = new AsyncDisposableStack();
  const { url, asking, ending, turn } = await askingAndEnding(stack);
  const calls = [{ toolCallId: 'c1', toolName: 'list', input: {} }];
  const message = { id: 'closed', role: 'tool' as const, content: [] };
  const resultOf = () => ({ message, event: step(9) });
  await inTurn(
    url,
    turn,
    () => keptStep(asking, turn, { calls, events: [step(1)] }),
    () => ending.turns.end(turn, 'cancelled', { resultOf }),
  );
  expect(await asking.toolCalls.unfinished(turn)).toEqual([]);
});

test('the lock of a process that was killed is free at once', async () => {
  const database = await fresh();
  const storage = await openStorage(database);
  const key = { tenant: 'acme', server: 'tracker', user: null };
  const child = startChild(database, { kind: 'hold-lock', key });
  expect((await once(child, 'message'))[0]).toBe('held');
  const waiting = storage.connections.withLock(key, 5_000, () => Promise.resolve('mine'));
  child.kill('SIGKILL');
  expect(await waiting).toBe('mine');
  await storage.close();
});

test('work whose lock is lost with its connection goes on, and others may take the lock', async () => {
  const database = await fresh();
  const [storage, other] = [await openStorage(database), await openStorage(database)];
  const key = { tenant: 'acme', server: 'tracker', user: null };
  const worked = storage.connections.withLock(key, 1_000, async () => {
    const terminate = `select pg_terminate_backend(pid, 5000) from pg_locks
      where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`;
    expect((await execute(database.url, terminate)).rows).toHaveLength(1);
    expect(await other.connections.withLock(key, 1_000, () => Promise.resolve('theirs'))).toBe('theirs');
    return 'mine';
  });
  expect(await worked).toBe('mine');
  expect(await storage.connections.withLock(key, 1_000, () => Promise.resolve('again'))).toBe('again');
  await Promise.all([storage.close(), other.close()]);
});

test('a process that holds its locks for a session, as earlier releases do, excludes us', async () => {
  const database = await fresh();
  const earlier = new pg.Client({ connectionString: database.url });
  await earlier.connect();
  onTestFinished(() => earlier.end());
  await earlier.query('select pg_advisory_lock(3853314791062309107)');
  const opening = openStorage(database);
  await expect
    .poll(
      async () =>
        (
          await execute(
            database.url,
            "select 1 from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())",
          )
        ).rows,
    )
    .toHaveLength(1);
  await earlier.query('select pg_advisory_unlock(3853314791062309107)');
  const storage = await opening;
  onTestFinished(() => storage.close());
  const key = { tenant: 'acme', server: 'tracker', user: null };
  const name = JSON.stringify(['connection', ...Object.values(key)]);
  await earlier.query('select pg_advisory_lock(hashtextextended($1, 7))', [name]);
  await expect(storage.connections.withLock(key, 50, () => Promise.resolve())).rejects.toThrow(
    'held the lock',
  );
});

test('as much work as there are connections may be under locks and still use the database', async () => {
  const storage = await openStorage(await fresh());
  const work = Array.from({ length: 20 }, (_, index) =>
    storage.connections.withLock(
      { tenant: 'acme', server: `server-${index}`, user: null },
      10_000,
      async () => {
        const turn = await begunTurn(storage);
        await storage.turnLog.append(turn, [text('a')]);
      },
    ),
  );
  await Promise.all(work);
  await storage.close();
});

test('a storage that is closed while it begins to listen does close', async () => {
  const database = await fresh();
  for (let round = 0; round < 10; round += 1) {
    const storage = await openStorage(database);
    const reading = storage.turnLog
      .follow(newTurn(), 0, new AbortController().signal)
      [Symbol.asyncIterator]();
    const next = reading.next();
    await storage.close();
    expect((await next).done).toBe(true);
  }
});

test('a database that vanishes without a word is given up, and used again once it answers', async () => {
  const { url } = await fresh();
  const behind = new URL(url);
  const frozen: Socket[] = [];
  let open: Socket[] = [];
  const proxy = createServer((socket) => {
    const upstream = connect(Number(behind.port), behind.hostname);
    socket.pipe(upstream).pipe(socket);
    for (const end of [socket, upstream]) end.on('error', () => undefined);
    open.push(socket, upstream);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const front = new URL(url);
  front.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const { query, close } = openPostgres(front.href, pino({ level: 'silent' }), { silenceMs: 1_500 });
  const ask = () => sql`select 1 as one`.execute(query);
  await ask();
  for (const socket of open) frozen.push(socket.unpipe().pause());
  open = [];
  await expect(ask()).rejects.toThrow('silent for 1500 ms');
  expect((await ask()).rows).toEqual([{ one: 1 }]);
  await close();
  for (const socket of [...frozen, ...open]) socket.destroy();
  proxy.close();
});

test('a database that cannot be reached is named in the error, without its password', async () => {
  const opening = openStorage({ kind: 'postgres', url: 'postgres://interlude:s3cret@127.0.0.1:1/nowhere' });
  const error = await opening.then(
    () => new Error('opened'),
    (reason: unknown) => reason as Error,
  );
  expect(error.message).toMatch(
    /Cannot open the database 127\.0\.0\.1:1\/nowhere: .*ECONNREFUSED.*Check DATABASE_URL/,
  );
  expect(error.message).not.toContain('s3cret');
});

test('what waits for the conversation while the turn ends is refused, though it began to wait before', async () => {
  const database = await fresh();
  const storage = await openStorage(database);
  onTestFinished(() => storage.close());
  const turn = await begunTurn(storage);
  await storage.steps.begin(turn, { step: 0, attempt: 1 });
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query('begin');
  await holder.query('select * from conversations where conversation = $1 for update', [turn.conversation]);
  const waiting = (count: number) =>
    vi.waitFor(async () => {
      const statement = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      expect((await execute(database.url, statement)).rows).toHaveLength(count);
    });
  const ended = storage.turns.end(turn, 'cancelled');
  await waiting(1);
  const late = storage.steps
    .append(turn, { step: 0, attempt: 1 }, [text('late')])
    .catch((error: unknown) => error);
  await waiting(2);
  await holder.query('rollback');
  await holder.end();
  await ended;
  expect(await late).toMatchObject({ name: 'WriteRefused', reason: 'turn-ended' });
  expect((await storage.turnLog.read(turn, 0)).map(({ event }) => event.type)).toEqual([
    'turn-started',
    'turn-ended',
  ]);
});
