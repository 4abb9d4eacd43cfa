/**
 * Group commit: one writer at a time, and one commit for everything that was written in the same turn of the event loop. A
 * commit waits for the disk, and blocks everything else in the process.
 *
 * The first writer opens a transaction; those that come before the commit join it, each behind a savepoint. A write is
 * confirmed only after the commit, and other connections do not see it before. A writer that fails rolls back only its own
 * part; a commit that fails fails all of them.
 *
 * Transactions take the write lock at once (`begin immediate`): another process may write the same file, and a transaction
 * that reads first and writes later would fail instead of waiting. The waiting is done here, because SQLite's own would block
 * the whole process, and perhaps the very transaction it waits for.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Prepared {
  statement: StatementSync;
  returnsRows: boolean;
}

/** Queries for lists have a text for each length. */
const mostKept = 500;

export interface Statements {
  prepare(sql: string): Prepared;
}

/** Safe with one caller at a time that reads all rows at once, because a statement has one cursor. */
export function keepStatements(database: DatabaseSync): Statements {
  const kept = new Map<string, Prepared>();
  return {
    prepare(sql) {
      let found = kept.get(sql);
      if (found) {
        // The least recently used one is first.
        kept.delete(sql);
      } else {
        const statement = database.prepare(sql);
        found = { statement, returnsRows: statement.columns().length > 0 };
        const [oldest] = kept.keys();
        if (kept.size >= mostKept && oldest !== undefined) kept.delete(oldest);
      }
      kept.set(sql, found);
      return found;
    },
  };
}

const busyTimeoutMs = 10_000;
const busy = 5;

/** So that neither the first of many writers nor another process waits too long. */
const mostTogether = 50;
const longestTogetherMs = 5;

export type SqliteWriter = ReturnType<typeof createSqliteWriter>;

interface Group {
  openedAt: number;
  kept: number;
  committed: PromiseWithResolvers<void>;
}

export function createSqliteWriter(database: DatabaseSync, statements = keepStatements(database)) {
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
    // The turn passes directly to the next one, so that no other can come in between. After a commit other work of the
    // process comes first.
    if (next && wasOverdue) setImmediate(next);
    else if (next) next();
    else isTaken = false;
  }

  /** SQLite rolls everything back by itself on some errors (a full disk). */
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

  /** Commits when everything that is ready now has had its chance to join. */
  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      if (isTaken) isOverdue = true;
      else commit();
    });
  }

  /** Resolves when the caller may write, inside a transaction. End with `keep` or `discard`. */
  async function enter(): Promise<void> {
    await takeTurn();
    try {
      if (group) {
        run('savepoint part');
        return;
      }
      await whenNotBusy(() => run('begin immediate'));
      group = { openedAt: performance.now(), kept: 0, committed: Promise.withResolvers() };
      // Those who keep something await it; a group without kept writes has no one to reject to.
      group.committed.promise.catch(() => undefined);
    } catch (error) {
      endTurn();
      throw error;
    }
  }

  return {
    enter,
    /** Ends the caller's turn; resolves when its writes are committed. */
    async keep(): Promise<void> {
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
    /** Rolls back the caller's writes, and ends its turn; resolves when what it may have read of others is committed. */
    async discard(): Promise<void> {
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
    /** Runs `work` outside of any transaction. */
    async alone<T>(work: () => T): Promise<T> {
      await takeTurn();
      try {
        commit();
        return await whenNotBusy(work);
      } finally {
        endTurn();
      }
    },
    async close(): Promise<void> {
      await takeTurn();
      commit();
      database.close();
      // SQLite fails those who still wait.
      endTurn();
    },
  };
}

/** Repeats what another connection's lock prevents. Not for use inside a transaction. */
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

/** The lowest byte is the kind of error, the others its place. */
function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof code === 'number' && (code & 0xff) === busy;
}
