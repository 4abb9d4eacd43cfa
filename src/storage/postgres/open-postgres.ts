import { Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import { Kysely, sql, CompiledQuery, PostgresAdapter, PostgresDialect, PostgresDriver } from 'kysely';
import pg from 'pg';
import type { Logger } from 'pino';
import type { DatabaseConnection, Dialect, TransactionSettings } from 'kysely';
import type { Backend } from '../database.ts';
import { compileOnce } from '../database.ts';
import { migrate } from '../migrations/migrate.ts';
import { reportingDialect, toStorageError } from '../transient-errors.ts';
import { createPostgresCarrier } from './listen-notify.ts';
import { createPostgresLock } from './advisory-lock.ts';
import type { Tables } from '../schema.ts';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';

const connectTimeoutMs = 5_000;
/**
 * The longest silence during a query. A query to a database that vanished silently (a failover, a firewall) would otherwise
 * wait, and occupy its connection, for the quarter of an hour that TCP retries.
 */
const silenceMs = 40_000;
const lastListenMs = 500;
/** Unlike `now()`, this is not the time at which the transaction began. */
const selectTime = compileOnce((query) =>
  sql<{
    now: number;
  }>`select (extract(epoch from clock_timestamp()) * 1000)::double precision as now`.compile(query),
);
/** With notifications, a poll only finds lost ones; without, everything that other processes write. */
const pollMs = { notified: 1_000, unnotified: 250 };

/** A connection string, or a function that returns the current one for each new connection. */
type Url = string | (() => string);

interface PostgresOptions {
  /** An address of the same database without a pooler, for listening, locks and migrations. */
  directUrl?: Url | undefined;
  silenceMs?: number;
}

export function openPostgres(url: Url, logger: Logger, options: PostgresOptions = {}): Backend {
  const settings: pg.PoolConfig = {
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'interlude',
    types: { getTypeParser },
  };
  const Client = clientOf(url);
  const DirectClient = options.directUrl === undefined ? Client : clientOf(options.directUrl);
  const openPool = (config: pg.PoolConfig) => {
    const pool = new pg.Pool({ ...settings, ...config });
    // A connection lost between two statements emits an error here, and fails the next statement as well. Without a listener
    // it would end the process.
    pool.on('connect', (client) => client.on('error', () => undefined));
    pool.on('error', (error) => logger.warn({ err: error }, 'lost an idle database connection'));
    return pool;
  };
  const pool = openPool({
    Client,
    max: 10,
    stream: () => socketWithin(options.silenceMs ?? silenceMs),
  });
  // Separate from the main pool: work under a lock needs a connection too, and must not wait for itself.
  const lockPool = openPool({ Client: DirectClient, max: 20 });
  let outageAt = performance.now();
  const onOutage = () => void (outageAt = performance.now());
  const query = new Kysely<Tables>({ dialect: reportingDialect(createDialect(pool), onOutage) });
  let isPooled = false;
  const connect = () => (isPooled ? null : new DirectClient(settings));
  const channelOn = (channel: string) => createPostgresCarrier({ channel, pool, connect, logger });
  return {
    query,
    async checkConnections() {
      if (options.directUrl !== undefined) return expectNotifications(pool, new DirectClient(settings));
      isPooled = await isPooler(pool).catch((error: unknown) => {
        throw toStorageError(error);
      });
      if (isPooled)
        logger.warn(
          { pollMs: pollMs.unnotified },
          'DATABASE_URL is the address of a connection pooler, which notifications may not pass: looking for new events instead; set DATABASE_DIRECT_URL to an address of the database itself',
        );
    },
    isPooled: () => isPooled,
    async migrate() {
      // Connections without a limit on silence: a migration may take long over a large table.
      const dialect = reportingDialect(createDialect(openPool({ Client: DirectClient, max: 2 })));
      const unlimited = new Kysely<Tables>({ dialect });
      try {
        await migrate(unlimited);
      } finally {
        await unlimited.destroy();
      }
    },
    channel: channelOn('interlude_turn_log'),
    endingsChannel: channelOn('interlude_turn_endings'),
    lock: createPostgresLock(lockPool, () => isPooled),
    get pollMs() {
      return isPooled ? pollMs.unnotified : pollMs.notified;
    },
    async readClock(by = query) {
      const { rows } = await selectTime(by, {});
      return rows[0]?.now ?? NaN;
    },
    answeringForMs: () => performance.now() - outageAt,
    async close() {
      await lockPool.end();
      await query.destroy();
      if (!pool.ended) await pool.end();
    },
  };
}

function clientOf(url: Url): typeof pg.Client {
  return class extends pg.Client {
    constructor(given?: pg.ClientConfig) {
      super({ ...given, connectionString: typeof url === 'string' ? url : url() });
    }
  };
}

/** The pool closes idle connections much sooner, so only a connection that waits for a response is silent this long. */
function socketWithin(ms: number): Socket {
  const socket = new Socket();
  return socket.setTimeout(ms, () => {
    // A frozen process handles its timers before it reads what has arrived meanwhile.
    const { bytesRead } = socket;
    const endIfSilent = () => {
      if (socket.bytesRead === bytesRead) socket.destroy(new Error(`the database was silent for ${ms} ms`));
    };
    setTimeout(endIfSilent, lastListenMs);
  });
}

/** Counters and epoch milliseconds fit a JavaScript number; `pg` would return them as text. */
const getTypeParser: typeof pg.types.getTypeParser = (oid, format) =>
  oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format);

/** A process that is frozen inside a transaction would keep a conversation locked for all others. */
const idleInTransactionMs = 30_000;
const setLimit = `set local idle_in_transaction_session_timeout = ${idleInTransactionMs}`;

/** Kysely's dialect, without session state: behind a pooler it would stay on a connection that other clients use. */
function createDialect(pool: pg.Pool): Dialect {
  const dialect = new PostgresDialect({ pool });
  return {
    createAdapter: () => new Adapter(),
    createDriver: () => new Driver({ pool }),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (query) => dialect.createIntrospector(query),
  };
}

class Driver extends PostgresDriver {
  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    const isPlain = settings.isolationLevel === undefined && settings.accessMode === undefined;
    if (!isPlain) await super.beginTransaction(connection, settings);
    // Both statements in one round trip.
    await connection.executeQuery(CompiledQuery.raw(isPlain ? `begin; ${setLimit}` : setLimit));
  }
}

/** Kysely's migration lock is a session lock; `migrate` takes its own. */
class Adapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

const arrivalMs = 5_000;

/**
 * Whether a pooler responds instead of the database. Poolers in transaction mode (PgBouncer, Supavisor, Odyssey, Neon's) give
 * a client a server connection for each transaction only: session state (LISTEN, SET, session locks) is left behind on a
 * connection that other clients use. So this service sets nothing for a session, and listening needs a direct connection.
 *
 * A connection is greeted with a process id, the key for cancelling its queries. PostgreSQL sends its own process id; a
 * pooler does not know yet which server connection a query will use, so it makes up a key and translates it. A pooler in
 * session mode cannot be recognised this way.
 */
async function isPooler(pool: pg.Pool): Promise<boolean> {
  const client: pg.PoolClient & { processID?: number } = await pool.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return client.processID !== rows[0]?.pid;
  } finally {
    client.release();
  }
}

/** Rejects unless a notification sent through `pool` arrives at the idle `listener`. */
async function expectNotifications(pool: pg.Pool, listener: pg.Client): Promise<void> {
  // A random channel, which leaves nothing that others could hear.
  const channel = `interlude_check_${randomUUID().replaceAll('-', '')}`;
  const arrived = new Promise<true>((resolve) => listener.once('notification', () => resolve(true)));
  // Queries under way are rejected as well.
  listener.on('error', () => undefined);
  try {
    await listener.connect();
    await listener.query(`listen ${channel}`);
    await pool.query(`notify ${channel}`);
    if (await withTimeout(arrived, arrivalMs, false)) return;
  } catch (cause) {
    throw new DirectUrlUnusable(
      `it cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause: toStorageError(cause) },
    );
  } finally {
    await listener.end().catch(() => undefined);
  }
  throw new DirectUrlUnusable(
    'notifications that are sent through DATABASE_URL do not arrive there; write the address of the same database, past every pooler',
  );
}

export class DirectUrlUnusable extends Error {
  override name = 'DirectUrlUnusable';
}
