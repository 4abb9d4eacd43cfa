/**
 * Kysely on `node:sqlite`. Kysely lends the one connection to one query or transaction at a time.
 *
 * Transactions take the write lock at once (`begin immediate`): another process may write the same file, and a
 * transaction that reads first and writes later would fail instead of waiting its turn. The waiting is ours, not
 * SQLite's: its own would block the whole process, and with it perhaps the very transaction it waits for.
 */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { CompiledQuery, SqliteAdapter, SqliteDriver, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { DatabaseConnection, Dialect, SqliteDatabase } from 'kysely';

const busyTimeoutMs = 10_000;
const busy = 5;

export function sqliteDialect(database: DatabaseSync): Dialect {
  return {
    createDriver: () => new PatientDriver(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new TransactionalAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** Repeats what another connection's lock does not let through. Not for use inside a transaction. */
export async function whenNotBusy<T>(attempt: () => T | Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      return await attempt();
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

class PatientDriver extends SqliteDriver {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    super({ database: forKysely(database) });
    this.#database = database;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection();
    return {
      executeQuery: <R>(query: CompiledQuery) => {
        const execute = () => connection.executeQuery<R>(query);
        return this.#database.isTransaction ? execute() : whenNotBusy(execute);
      },
      streamQuery: (...query) => connection.streamQuery(...query),
    };
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // SQLite rolls back by itself on some errors (full disk); a second rollback would hide the first error.
    if (this.#database.isTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'));
  }
}

class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

function forKysely(database: DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql);
      const bind = (parameters: readonly unknown[]) => parameters as SQLInputValue[];
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => statement.all(...bind(parameters)),
        run: (parameters) => statement.run(...bind(parameters)),
        iterate: (parameters) => statement.iterate(...bind(parameters)),
      };
    },
  };
}
