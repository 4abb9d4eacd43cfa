/**
 * A row names the lock's holder and an expiry, which the holder renews during its work. The lock of a dead holder expires.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { SharedLock } from '../locks.ts';
import type { Tables } from '../schema.ts';

const retryMs = 25;

export function createSqliteLock(query: Kysely<Tables>, holdMs = 10_000): SharedLock {
  const claim = async (name: string, owner: string): Promise<boolean> => {
    // The wall clock of the machine, which both processes share; never a test's clock.
    const at = Date.now();
    const held = await query
      .insertInto('locks')
      .values({ name, owner, expires_at: at + holdMs })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet({ owner, expires_at: at + holdMs })
          .where('locks.expires_at', '<', at),
      )
      .returning('owner')
      .executeTakeFirst();
    return held !== undefined;
  };

  const renew = (name: string, owner: string) =>
    query
      .updateTable('locks')
      .set({ expires_at: Date.now() + holdMs })
      .where(({ and }) => and({ name, owner }))
      .execute();

  const forget = (name: string, owner: string) =>
    query.deleteFrom('locks').where('name', '=', name).where('owner', '=', owner).execute();

  return {
    async acquire(name, waitMs) {
      const owner = randomUUID();
      const giveUpAt = performance.now() + waitMs;
      while (!(await claim(name, owner))) {
        if (performance.now() >= giveUpAt) return null;
        await sleep(retryMs);
      }
      // If renewing or deleting fails, the lock expires; the work under the lock matters more.
      const renewal = setInterval(() => void renew(name, owner).catch(() => undefined), holdMs / 4);
      return async () => {
        clearInterval(renewal);
        await forget(name, owner).catch(() => undefined);
      };
    },
  };
}
