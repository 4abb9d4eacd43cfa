/**
 * Named locks of the database, each held by a transaction that stays open during the work. Transaction-level locks work
 * through connection poolers, which keep a server connection for a client only during a transaction.
 *
 * PostgreSQL frees the lock when its holder commits or dies. A holder that only loses its connection finishes its work
 * although another process may begin the same work: what was sent to a provider cannot be taken back, and stores are
 * compare-and-set.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { SharedLock } from '../locks.ts';

/** The second argument of `hashtextextended`, so that other locks hash differently. */
const seed = 7;
const retryMs = 50;

/** Far longer than any work under a lock: a frozen process loses its connection eventually. */
const longestWorkMs = 300_000;

/**
 * The number of locks that all processes together hold through a pooler. Each occupies a server connection, and the work
 * needs another one: if all connections held locks, they would wait for each other.
 */
const heldThroughPooler = ['pooled/1', 'pooled/2'];

export function createPostgresLock(pool: pg.Pool, isPooled: () => boolean): SharedLock {
  /** The connection that holds the lock; null when it is not free. */
  async function tryToHold(name: string): Promise<pg.PoolClient | null> {
    const client = await pool.connect();
    try {
      await client.query(`begin; set local idle_in_transaction_session_timeout = ${longestWorkMs}`);
      const isFree =
        (await tryLock(client, name)) && (!isPooled() || (await tryAny(client, heldThroughPooler)));
      if (isFree) return client;
      await client.query('rollback');
      client.release();
      return null;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  return {
    async acquire(name, waitMs) {
      const giveUpAt = performance.now() + waitMs;
      for (;;) {
        const client = await tryToHold(name);
        if (client) return () => release(client);
        const leftMs = giveUpAt - performance.now();
        if (leftMs <= 0) return null;
        await sleep(Math.min(retryMs, leftMs));
      }
    },
  };
}

async function tryAny(client: pg.PoolClient, names: string[]): Promise<boolean> {
  for (const name of names) if (await tryLock(client, name)) return true;
  return false;
}

async function tryLock(client: pg.PoolClient, name: string): Promise<boolean> {
  const { rows } = await client.query<{ free: boolean }>(
    'select pg_try_advisory_xact_lock(hashtextextended($1, $2)) as free',
    [name, seed],
  );
  return rows[0]?.free === true;
}

async function release(client: pg.PoolClient): Promise<void> {
  try {
    await client.query('commit');
    client.release();
  } catch {
    // The connection is lost, and the lock with it.
    client.release(true);
  }
}
