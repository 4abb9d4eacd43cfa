/**
 * Named locks, exclusive within a process and between processes. Within a process callers queue in order; only the first of
 * the queue competes with other processes.
 */
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';
import { toStorageError } from './transient-errors.ts';

/** Excludes other processes. `acquire` resolves to null when it took too long. */
export interface SharedLock {
  acquire(name: string, waitMs: number): Promise<(() => Promise<void>) | null>;
}

class LockTimeoutError extends Error {
  override name = 'LockTimeoutError';
}

export type Locks = ReturnType<typeof createLocks>;

export function createLocks(shared: SharedLock) {
  const queues = new Map<string, Promise<void>>();

  return {
    /** Runs `work` alone. Rejects with `LockTimeoutError` when the lock is not free within `waitMs`. */
    async withLock<T>(name: string, waitMs: number, work: () => Promise<T>): Promise<T> {
      const giveUpAt = performance.now() + waitMs;
      const turn = Promise.withResolvers<void>();
      const before = queues.get(name);
      const queue = (before ?? Promise.resolve()).then(() => turn.promise);
      queues.set(name, queue);
      try {
        if (before && (await withTimeout(before, waitMs, 'late')) === 'late') throw tooLong(waitMs);
        const leftMs = Math.max(0, giveUpAt - performance.now());
        const release = await shared.acquire(name, leftMs).catch((error: unknown) => {
          throw toStorageError(error);
        });
        if (!release) throw tooLong(waitMs);
        try {
          return await work();
        } finally {
          await release();
        }
      } finally {
        turn.resolve();
        if (queues.get(name) === queue) queues.delete(name);
      }
    },
  };
}

function tooLong(waitMs: number): LockTimeoutError {
  return new LockTimeoutError(`another caller held the lock for more than ${waitMs} ms; try again`);
}
