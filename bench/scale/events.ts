/** Appending to, following and deleting from a PostgreSQL log that already has very many events. */
import { randomUUID } from 'node:crypto';
import { Client, Pool } from 'pg';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { eachOf } from '../each-of.ts';
import { percentile } from '../report.ts';
import type { Events, Work } from './results.ts';

const eventsOfTurn = 10;
const generatedAtOnce = 100_000;
const generators = 4;
const appends = 2_000;
const follows = 300;
const deletedAtOnce = 50;
const batches = 20;
/** Writers at once: those of a busy worker. */
const writers = 10;
const monthMs = 30 * 24 * 60 * 60_000;

export async function measureEvents(databaseUrl: string, count: number): Promise<Events> {
  await using stack = new AsyncDisposableStack();
  const storage = await openStorage({ kind: 'postgres', url: databaseUrl });
  stack.defer(() => storage.close());
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  stack.defer(() => client.end());

  await generate(databaseUrl, count);
  await client.query('vacuum analyze');
  await client.query('checkpoint');
  const bytes = await numberFrom(client, "select pg_total_relation_size('turn_events') as value");

  // The first of each would measure cold caches and plans that do not exist yet.
  await append(storage, 200);
  await followOne(storage, 20);
  await storage.retention.deleteTurns(Date.now() - monthMs, deletedAtOnce);

  const appended = await during(client, appends, () => append(storage, appends));
  const delays: number[] = [];
  const follow = await during(
    client,
    follows,
    async () => void delays.push(...(await followOne(storage, follows))),
  );
  const deleted = batches * deletedAtOnce;
  const alone = await during(client, deleted, () => deleteBatches(storage));
  const both = await during(client, deleted, async () => {
    const over = new AbortController();
    const appending = appendUntil(storage, over.signal);
    await deleteBatches(storage).finally(() => over.abort());
    await appending;
  });
  return {
    events: count,
    bytesOfEvent: bytes / count,
    append: appended,
    follow: { ...follow, p50Ms: percentile(delays, 0.5), p95Ms: percentile(delays, 0.95) },
    deleteTurn: alone,
    deleteTurnWhileAppending: both,
  };
}

/** Ended turns of one step, each in a conversation of its own: as a service leaves them that ran for months. */
async function generate(databaseUrl: string, events: number): Promise<void> {
  const turns = events / eventsOfTurn;
  const turnsAtOnce = generatedAtOnce / eventsOfTurn;
  const endedAt = Date.now() - 2 * monthMs;
  // Without checks of foreign keys, which take most of the time. Needs a superuser.
  const options = '-c synchronous_commit=off -c session_replication_role=replica';
  const pool = new Pool({ connectionString: databaseUrl, options, max: generators });
  await eachOf(Math.ceil(turns / turnsAtOnce), generators, async (batch) => {
    const from = batch * turnsAtOnce;
    const upTo = Math.min(turns, from + turnsAtOnce) - 1;
    const ids = `select g, md5(g::text)::uuid::text as id from generate_series(${from}, ${upTo}) as g`;
    await pool.query(`
      insert into conversations (tenant, conversation, user_id, agent, last_seq, last_position, created_at, updated_at)
      select 'acme', id, 'user-' || g % 10000, 'assistant', ${eventsOfTurn}, 2, ${endedAt} + g, ${endedAt} + g from (${ids})`);
    await pool.query(`
      insert into turns (turn_id, tenant, conversation, user_id, agent, capabilities, status, client_message_id, created_at, ended_at)
      select id, 'acme', id, 'user-' || g % 10000, 'assistant', '{}', 'completed', id, ${endedAt} + g, ${endedAt} + g from (${ids})`);
    await pool.query(`
      insert into turn_events (tenant, conversation, seq, turn_id, key, event, at)
      select 'acme', id, seq, id, 'step/0/1/' || seq,
        json_build_object('type', 'text-delta', 'id', 'part', 'delta', repeat(md5(id || seq), 3))::text, ${endedAt} + g
      from (${ids}) cross join generate_series(1, ${eventsOfTurn}) as seq`);
  });
  await pool.end();
}

async function begin(storage: Storage) {
  const id = randomUUID();
  const turn = {
    tenant: 'acme',
    conversation: id,
    turnId: id,
    agent: 'assistant',
    user: `user-${Math.floor(Math.random() * 10_000)}`,
    capabilities: { url: true, form: true },
    clientMessageId: id,
    messages: [{ id, role: 'user' as const, content: 'Good morning' }],
  };
  const resultOf = () => () => {
    throw new Error('no turn makes room');
  };
  await storage.turns.prepare(turn, { onBusy: 'refuse', resultOf });
  await storage.turns.begin(turn);
  return turn;
}

const delta = (number: number) => ({
  key: `step/0/1/${number}`,
  event: { type: 'text-delta' as const, id: 'part', delta: 'some words of an answer '.repeat(4) },
});

async function append(storage: Storage, count: number): Promise<void> {
  await eachOf(writers, writers, async () => {
    const turn = await begin(storage);
    for (let number = 0; number < count / writers; number++)
      await storage.turnLog.append(turn, [delta(number)]);
  });
}

async function appendUntil(storage: Storage, signal: AbortSignal): Promise<void> {
  const turn = await begin(storage);
  for (let number = 0; !signal.aborted; number++) await storage.turnLog.append(turn, [delta(number)]);
}

/** From each append to its reader. */
async function followOne(storage: Storage, count: number): Promise<number[]> {
  const turn = await begin(storage);
  const over = new AbortController();
  const reading = storage.turnLog
    .follow(turn, await storage.turnLog.latest(turn), over.signal)
    [Symbol.asyncIterator]();
  const delays: number[] = [];
  for (let number = 0; number < count; number++) {
    const arrival = reading.next();
    const appendedAt = performance.now();
    await storage.turnLog.append(turn, [delta(number)]);
    await arrival;
    delays.push(performance.now() - appendedAt);
  }
  over.abort();
  return delays;
}

async function deleteBatches(storage: Storage): Promise<void> {
  for (let batch = 0; batch < batches; batch++) {
    const deleted = await storage.retention.deleteTurns(Date.now() - monthMs, deletedAtOnce);
    if (deleted !== deletedAtOnce)
      throw new Error(`${deleted} turns were deleted instead of ${deletedAtOnce}`);
  }
}

/** What each of `count` operations takes of time and of the database. */
async function during(client: Client, count: number, work: () => Promise<unknown>): Promise<Work> {
  const before = await counters(client);
  const startedAt = performance.now();
  await work();
  const ms = (performance.now() - startedAt) / count;
  const after = await counters(client);
  return {
    ms,
    pages: (after.pages - before.pages) / count,
    scannedRows: (after.scanned - before.scanned) / count,
    walBytes: (after.wal - before.wal) / count,
  };
}

/** Sessions report what they did when they have been idle for a second. */
const reportMs = 1_500;

async function counters(client: Client): Promise<{ pages: number; scanned: number; wal: number }> {
  await client.query(`select pg_sleep(${reportMs / 1000})`);
  const one = (text: string) => numberFrom(client, text);
  return {
    pages: await one(
      'select sum(blks_hit + blks_read) as value from pg_stat_database where datname = current_database()',
    ),
    scanned: await one(
      `select sum(seq_tup_read) as value from pg_stat_user_tables
       where relname in ('turn_events', 'turns', 'conversations', 'messages', 'elicitations', 'tool_calls')`,
    ),
    wal: await one("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as value"),
  };
}

async function numberFrom(client: Client, text: string): Promise<number> {
  const { rows } = await client.query<{ value: unknown }>(text);
  return Number(rows[0]?.value);
}
