/**
 * Connection poolers in front of PostgreSQL (PgBouncer, Supavisor, Odyssey, Neon's). In transaction mode they give a client
 * a server connection for each transaction: what belongs to a session (LISTEN, SET, session locks) is left behind on a
 * connection that other clients use. So nothing of ours is set for a session, and listening needs a direct connection.
 */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { withTimeout } from '../../time/with-timeout.ts';
import { toStorageError } from '../transient-errors.ts';

const arrivalMs = 5_000;

/**
 * Whether a pooler answers instead of the database. The process id that a connection is greeted with belongs to the key by
 * which its queries are cancelled. PostgreSQL sends its own process id; a pooler cannot know yet which server connection
 * a query will run on, so it makes up a key, and translates. One in session mode cannot be told apart by this.
 */
export async function isPooler(pool: pg.Pool): Promise<boolean> {
  const client: pg.PoolClient & { processID?: number } = await pool.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return client.processID !== rows[0]?.pid;
  } finally {
    client.release();
  }
}

/** Rejects unless a notification sent through `pool` arrives at the idle `listener`. */
export async function expectNotifications(pool: pg.Pool, listener: pg.Client): Promise<void> {
  // A channel of its own, of which nothing is left that anyone could hear.
  const channel = `interlude_check_${randomUUID().replaceAll('-', '')}`;
  const arrived = new Promise<true>((resolve) => listener.once('notification', () => resolve(true)));
  // A query under way is rejected as well.
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
