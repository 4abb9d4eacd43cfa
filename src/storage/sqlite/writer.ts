/**
 * Group commit: one writer at a time, and one commit for all that wrote in the same turn of the event loop. A commit
 * waits for the disk, and with it everything else that the process does.
 *
 * Who writes first opens a transaction, those who come before it is committed join it, each behind a savepoint of its
 * own. Nobody is told that something is written before all of it is committed, and nobody outside sees it before, as
 * long as it reads by another connection. A writer that fails takes only its own part back; a commit that fails fails
 * everybody's.
 *
 * Transactions take the write lock at once (`begin immediate`): another process may write the same file, and a
 * transaction that reads first and writes later would fail instead of waiting its turn. The waiting is ours, not
 * SQLite's: its own would block the whole process, and with it perhaps the very transaction it waits for.
 */
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepStatements } from './prepared-statements.ts';

const busyTimeoutMs = 10_000;
const busy = 5;

/** So that the first of many does not wait for all of them, nor another process for the lock. */
const mostTogether = 50;
const longestTogetherMs = 5;

export interface SqliteWriter {
  /** Resolves when it is the caller's turn to write, inside a transaction; ends with `keep` or `discard`. */
  enter(): Promise<void>;
  /** Ends the caller's turn; resolves when what it wrote is committed. */
  keep(): Promise<void>;
  /** Takes back what the caller wrote, and ends its turn; resolves when what it may have read of others is committed. */
  discard(): Promise<void>;
  /** Runs `work` outside of any transaction. */
  alone<T>(work: () => T): Promise<T>;
  close(): Promise<void>;
}

interface Group {
  openedAt: number;
  kept: number;
  committed: PromiseWithResolvers<void>;
}

export function createSqliteWriter(
  database: DatabaseSync,
  statements = keepStatements(database),
): SqliteWriter {
  const run = (sql: string) => void statements.prepare(sql).statement.run();
  const waiting: (() => void)[] = [];
  let isTaken = false;
  let group: Group | undefined;
  let isScheduled = false;
  let isOverdue = false;

  async function takeTurn(): Promise<void> {
    if (isTaken) await new Promise<void>((resolve) => waiting.push(resolve));
    isTaken = true;
  }

  function endTurn(): void {
    const wasOverdue = isOverdue;
    if (isOverdue) commit();
    const next = waiting.shift();
    // Taken on behalf of the next one, so that nobody comes in between. Between two commits everything else has a chance.
    if (next && wasOverdue) setImmediate(next);
    else if (next) next();
    else isTaken = false;
  }

  /** SQLite takes everything back by itself on some errors (a full disk). */
  function fail(): void {
    group?.committed.reject(new Error('another write of the same commit failed, and this one with it'));
    group = undefined;
  }

  function commit(): void {
    isOverdue = false;
    if (!group) return;
    const { committed, kept } = group;
    group = undefined;
    try {
      run(kept > 0 ? 'commit' : 'rollback');
      committed.resolve();
    } catch (error) {
      if (database.isTransaction) database.exec('rollback');
      committed.reject(error);
    }
  }

  /** Once everything that is ready by now has had its chance to join. */
  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      if (isTaken) isOverdue = true;
      else commit();
    });
  }

  async function enter(): Promise<void> {
    await takeTurn();
    try {
      if (group) {
        run('savepoint part');
        return;
      }
      await whenNotBusy(() => run('begin immediate'));
      group = { openedAt: performance.now(), kept: 0, committed: Promise.withResolvers() };
      // Whoever keeps something waits for it; a group that nobody kept anything in has nobody to tell.
      group.committed.promise.catch(() => undefined);
    } catch (error) {
      endTurn();
      throw error;
    }
  }

  return {
    enter,
    async keep() {
      const joined = group;
      try {
        if (!joined || !database.isTransaction) {
          fail();
          throw new Error('the transaction was rolled back by SQLite');
        }
        if (joined.kept > 0) run('release part');
        joined.kept += 1;
        const isFull = joined.kept >= mostTogether || performance.now() - joined.openedAt > longestTogetherMs;
        if (isFull) isOverdue = true;
        else schedule();
      } finally {
        endTurn();
      }
      await joined.committed.promise;
    },
    async discard() {
      const joined = group;
      try {
        if (!database.isTransaction) fail();
        else if (group && group.kept > 0) database.exec('rollback to part; release part');
        else commit();
      } finally {
        endTurn();
      }
      await joined?.committed.promise.catch(() => undefined);
    },
    async alone(work) {
      await takeTurn();
      try {
        commit();
        return await whenNotBusy(work);
      } finally {
        endTurn();
      }
    },
    async close() {
      await takeTurn();
      commit();
      database.close();
      // Whoever still waits is told by SQLite.
      endTurn();
    },
  };
}

/** Repeats what another connection's lock does not let through. Not for use inside a transaction. */
export async function whenNotBusy<T>(attempt: () => T): Promise<T> {
  const giveUpAt = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAt) throw error;
      await sleep(1 + Math.random() * 5);
    }
  }
}

/** The lowest byte says what went wrong, the others say where. */
function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof code === 'number' && (code & 0xff) === busy;
}
