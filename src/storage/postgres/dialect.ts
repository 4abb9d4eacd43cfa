/** Kysely's dialect, with nothing that outlives a transaction: behind a pooler it would stay on a connection of others. */
import { CompiledQuery, PostgresAdapter, PostgresDialect, PostgresDriver } from 'kysely';
import type { DatabaseConnection, Dialect, TransactionSettings } from 'kysely';
import type pg from 'pg';

/** A process that is frozen inside a transaction would keep a conversation locked for every other one. */
const idleInTransactionMs = 30_000;
const setLimit = `set local idle_in_transaction_session_timeout = ${idleInTransactionMs}`;

export function createDialect(pool: pg.Pool): Dialect {
  const dialect = new PostgresDialect({ pool });
  return {
    createAdapter: () => new Adapter(),
    createDriver: () => new Driver({ pool }),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (query) => dialect.createIntrospector(query),
  };
}

class Driver extends PostgresDriver {
  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    const isPlain = settings.isolationLevel === undefined && settings.accessMode === undefined;
    if (!isPlain) await super.beginTransaction(connection, settings);
    // Both statements in one round trip.
    await connection.executeQuery(CompiledQuery.raw(isPlain ? `begin; ${setLimit}` : setLimit));
  }
}

/** The migrator's lock is one of sessions; `migrate` takes its own. */
class Adapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}
