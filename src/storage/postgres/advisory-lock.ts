/** A session's advisory lock: PostgreSQL frees it when the holder says so, and also when the holder dies. */
import type pg from 'pg';
import type { SharedLock } from '../locks.ts';

/** The namespace of the second argument of `hashtextextended`, so that other locks hash elsewhere. */
const seed = 7;
const lockNotAvailable = '55P03';

export function createPostgresLock(pool: pg.Pool): SharedLock {
  return {
    async acquire(name, waitMs) {
      const giveUpAt = performance.now() + waitMs;
      const client = await pool.connect();
      try {
        const leftMs = Math.max(1, Math.ceil(giveUpAt - performance.now()));
        await client.query(`set lock_timeout = ${leftMs}`);
        await client.query('select pg_advisory_lock(hashtextextended($1, $2))', [name, seed]);
      } catch (error) {
        const timedOut = error instanceof Error && 'code' in error && error.code === lockNotAvailable;
        client.release(!timedOut);
        if (timedOut) return null;
        throw error;
      }
      return async () => {
        try {
          await client.query('select pg_advisory_unlock(hashtextextended($1, $2))', [name, seed]);
          client.release();
        } catch {
          // The session is broken, and closing it frees the lock as well.
          client.release(true);
        }
      };
    },
  };
}
