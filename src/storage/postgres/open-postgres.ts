import { Socket } from 'node:net';
import { Kysely, sql } from 'kysely';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Backend } from '../engine.ts';
import { compileOnce } from '../compile-once.ts';
import { migrate } from '../migrations/migrate.ts';
import { reportingDialect } from '../reporting-dialect.ts';
import { createPostgresCarrier } from './listen-notify.ts';
import { createPostgresLock } from './advisory-lock.ts';
import { createDialect } from './dialect.ts';
import { expectNotifications, isPooler } from './pooler.ts';
import { toStorageError } from '../transient-errors.ts';
import type { Tables } from '../schema.ts';

const connectTimeoutMs = 5_000;
/**
 * How long nothing may be heard of a query. A database that vanishes without a word (a failover, a firewall) would
 * otherwise keep it waiting, and its connection busy, for the quarter of an hour that TCP tries.
 */
const silenceMs = 40_000;
const lastListenMs = 500;
/** Unlike `now()`, this is not the time at which the transaction began. */
const selectTime = compileOnce((query) =>
  sql<{
    now: number;
  }>`select (extract(epoch from clock_timestamp()) * 1000)::double precision as now`.compile(query),
);
/** With notifications, a poll only finds what was lost; without, all that other processes write. */
const pollMs = { notified: 1_000, unnotified: 250 };

/** A connection string, or a function that returns the current one for each new connection. */
type Url = string | (() => string);

interface PostgresOptions {
  /** An address of the same database without a pooler, for what needs a connection of its own. */
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
    // A connection lost between two statements says so here, and to the next statement as well. Without a listener
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
  // Apart from the main pool: work done under a lock needs a connection too and must not wait for itself.
  const lockPool = openPool({ Client: DirectClient, max: 20 });
  let outageAt = performance.now();
  const onOutage = () => void (outageAt = performance.now());
  const query = new Kysely<Tables>({ dialect: reportingDialect(createDialect(pool), onOutage) });
  let isPooled = false;
  const connect = () => (isPooled ? null : new DirectClient(settings));
  const channelOn = (channel: string) => createPostgresCarrier({ channel, pool, connect, logger });
  return {
    kind: 'postgres',
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
    async migrate() {
      // With connections of its own: a step may rightly take long over a large table.
      const dialect = reportingDialect(createDialect(openPool({ Client: DirectClient, max: 2 })));
      const patient = new Kysely<Tables>({ dialect });
      try {
        await migrate({ kind: 'postgres', query: patient });
      } finally {
        await patient.destroy();
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

/** Counters and epoch milliseconds fit a JavaScript number; `pg` would hand them over as text. */
const getTypeParser: typeof pg.types.getTypeParser = (oid, format) =>
  oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format);
