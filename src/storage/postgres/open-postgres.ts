import { Socket } from 'node:net';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Backend } from '../engine.ts';
import { migrate } from '../migrations/migrate.ts';
import { createPostgresCarrier } from './listen-notify.ts';
import { createPostgresLock } from './advisory-lock.ts';
import type { Tables } from '../schema.ts';

const connectTimeoutMs = 5_000;
/** A process that is frozen inside a transaction would keep a conversation locked for everybody. */
const idleInTransactionMs = 30_000;

/**
 * How long nothing may be heard of a query. A database that vanishes without a word (a failover, a firewall) would
 * otherwise keep it waiting, and its connection busy, for the quarter of an hour that TCP tries.
 */
const silenceMs = 40_000;
const lastListenMs = 500;

export function openPostgres(url: string, logger: Logger, limits = { silenceMs }): Backend {
  const settings: pg.ClientConfig = {
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'interlude',
    types: { getTypeParser },
  };
  const openPool = (max: number, more: pg.PoolConfig = {}) => {
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it; only its type says otherwise
    const pool = new pg.Pool({ ...settings, ...more, max, onConnect: setUp });
    pool.on('error', (error) => logger.warn({ err: error }, 'lost an idle database connection'));
    return pool;
  };
  const pool = openPool(10, { stream: () => socketWithin(limits.silenceMs) });
  // Apart from the main pool: work done under a lock needs a connection too and must not wait for itself.
  const lockPool = openPool(20);
  const query = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const channelOn = (channel: string) =>
    createPostgresCarrier({ channel, pool, connect: () => new pg.Client(settings), logger });
  return {
    kind: 'postgres',
    query,
    async migrate() {
      // With connections of its own: a step may rightly take long over a large table.
      const patient = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: openPool(2) }) });
      try {
        await migrate({ kind: 'postgres', query: patient });
      } finally {
        await patient.destroy();
      }
    },
    channel: channelOn('interlude_turn_log'),
    endingsChannel: channelOn('interlude_turn_endings'),
    lock: createPostgresLock(lockPool),
    pollMs: 1_000,
    async close() {
      await lockPool.end();
      await query.destroy();
      if (!pool.ended) await pool.end();
    },
  };
}

/** The pool gives up connections that rest long before, so only one that waits for an answer is ever this silent. */
function socketWithin(ms: number): Socket {
  const socket = new Socket();
  return socket.setTimeout(ms, () => {
    // A process that stood still hears its clock before it reads what has arrived meanwhile.
    const { bytesRead } = socket;
    const endIfSilent = () => {
      if (socket.bytesRead === bytesRead) socket.destroy(new Error(`the database was silent for ${ms} ms`));
    };
    setTimeout(endIfSilent, lastListenMs);
  });
}

async function setUp(client: pg.ClientBase): Promise<void> {
  // A connection lost between two statements says so here, and to the next statement as well. Without somebody
  // listening it would end the process.
  client.on('error', () => undefined);
  await client.query(`set idle_in_transaction_session_timeout = ${idleInTransactionMs}`);
}

/** Counters and epoch milliseconds fit a JavaScript number; `pg` would hand them over as text. */
const getTypeParser: typeof pg.types.getTypeParser = (oid, format) =>
  oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format);
