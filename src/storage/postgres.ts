import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Backend } from './database.ts';
import { createPostgresCarrier } from './postgres-carrier.ts';
import { createPostgresLock } from './postgres-lock.ts';
import type { Tables } from './tables.ts';

const connectTimeoutMs = 5_000;
/** A process that is frozen inside a transaction would keep a conversation locked for everybody. */
const idleInTransactionMs = 30_000;

export function openPostgres(url: string, logger: Logger): Backend {
  const settings: pg.ClientConfig = {
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name: 'interlude',
    types: { getTypeParser },
  };
  const openPool = (max: number) => {
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it; only its type says otherwise
    const pool = new pg.Pool({ ...settings, max, onConnect: setUp });
    pool.on('error', (error) => logger.warn({ err: error }, 'lost an idle database connection'));
    return pool;
  };
  const pool = openPool(10);
  // Apart from the main pool: work done under a lock needs a connection too and must not wait for itself.
  const lockPool = openPool(20);
  const query = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    kind: 'postgres',
    query,
    carrier: createPostgresCarrier({ pool, connect: () => new pg.Client(settings), logger }),
    lock: createPostgresLock(lockPool),
    pollMs: 1_000,
    async close() {
      await lockPool.end();
      await query.destroy();
      if (!pool.ended) await pool.end();
    },
  };
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
