/** What an operator should know of the database before a deploy. Changes nothing. */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { isPostgres } from './database.ts';
import type { Tables } from './schema.ts';
import { DatabaseUnavailable } from './transient-errors.ts';

export interface DatabaseState {
  /** Like `PostgreSQL 18.4`. */
  version: string;
  bytes: number;
  /** Only writes fail. */
  isReadOnly: boolean;
  /** There is no room for a few megabytes. */
  isFull: boolean;
  /** Null on SQLite. */
  connections: { used: number; most: number } | null;
  /** Transactions that have locks on our tables and make other sessions wait, or are old. */
  holders: LockHolder[];
}

interface LockHolder {
  pid: number;
  program: string;
  /** Like `idle in transaction`. */
  state: string;
  forMs: number;
  /** The number of sessions that wait for it. */
  waiting: number;
}

/** A migration may have to wait for an older transaction, and everything then waits for the migration. */
const oldMs = 60_000;

export async function readDatabaseState(query: Kysely<Tables>): Promise<DatabaseState> {
  return isPostgres(query) ? stateOfPostgres(query) : stateOfSqlite(query);
}

async function stateOfSqlite(query: Kysely<Tables>): Promise<DatabaseState> {
  const { rows } = await sql<{ version: string; bytes: number }>`
    select sqlite_version() as version, page_count * page_size as bytes
    from pragma_page_count(), pragma_page_size()`.execute(query);
  const { version = '', bytes = 0 } = rows[0] ?? {};
  const never = { isReadOnly: false, isFull: false, connections: null, holders: [] };
  return { version: `SQLite ${version}`, bytes, ...never };
}

async function stateOfPostgres(query: Kysely<Tables>): Promise<DatabaseState> {
  const { rows } = await sql<{
    version: string;
    bytes: number;
    isReadOnly: boolean;
    used: number;
    most: number;
  }>`
    select
      current_setting('server_version') as version,
      pg_database_size(current_database()) as bytes,
      current_setting('transaction_read_only')::boolean as "isReadOnly",
      (select count(*) from pg_stat_activity where backend_type = 'client backend') as used,
      current_setting('max_connections')::integer as most`.execute(query);
  const { rows: holders } = await sql<LockHolder>`
    select * from (
      select
        pid,
        application_name as program,
        state,
        (extract(epoch from clock_timestamp() - xact_start) * 1000)::bigint as "forMs",
        (select count(*) from pg_stat_activity other where activity.pid = any(pg_blocking_pids(other.pid))) as waiting
      from pg_stat_activity activity
      where datname = current_database() and pid <> pg_backend_pid() and exists (
        select from pg_locks
        join pg_class on pg_class.oid = relation
        where pg_locks.pid = activity.pid and granted and relkind = 'r'
          and relnamespace = (select oid from pg_namespace where nspname = current_schema())
      )
    ) holder
    where "forMs" > ${oldMs} or (waiting > 0 and "forMs" > 1000)
    order by "forMs" desc`.execute(query);
  const { version = '', bytes = 0, isReadOnly = false, used = 0, most = 0 } = rows[0] ?? {};
  const isFull = await isDiskFull(query);
  return {
    version: `PostgreSQL ${version}`,
    bytes,
    isReadOnly,
    isFull,
    connections: { used, most },
    holders,
  };
}

/** A query whose rows do not fit into the memory that it may use, so that 14 MB of them are written to a temporary file. */
async function isDiskFull(query: Kysely<Tables>): Promise<boolean> {
  try {
    await query.transaction().execute(async (transaction) => {
      await sql`set local work_mem = '64kB'`.execute(transaction);
      await sql`select count(*) from generate_series(1, 1000000)`.execute(transaction);
    });
    return false;
  } catch (error) {
    if (error instanceof DatabaseUnavailable && error.code === '53100') return true;
    throw error;
  }
}
