/** Kysely's dialects, with errors that say whether the database or our statement is at fault, and a report of outages. */
import type { DatabaseConnection, Dialect, Driver } from 'kysely';
import { DatabaseUnavailable, toStorageError } from './transient-errors.ts';

/** A statement that took longer waited for a database that had stopped answering, or for a process that had stopped running. */
const slowMs = 5_000;

/**
 * The same dialect: what its driver throws becomes `DatabaseUnavailable`, except for faults of a statement. `onOutage` is
 * called whenever the database could not do its work, and after each statement that was slow.
 */
export function reportingDialect(dialect: Dialect, onOutage: () => void = () => undefined): Dialect {
  return {
    createDriver: () => reportingDriver(dialect.createDriver(), onOutage),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  };
}

function reportingDriver(driver: Driver, onOutage: () => void): Driver {
  const reporting = new WeakSet<DatabaseConnection>();

  /** Drivers begin and end transactions by the same method. Pooled connections come back here, and are changed once. */
  function report(connection: DatabaseConnection): DatabaseConnection {
    if (reporting.has(connection)) return connection;
    reporting.add(connection);
    const execute = connection.executeQuery.bind(connection);
    return Object.assign(connection, {
      async executeQuery(...query: Parameters<typeof execute>) {
        const startedAt = performance.now();
        try {
          return await execute(...query);
        } catch (error) {
          return rethrow(error);
        } finally {
          if (performance.now() - startedAt > slowMs) onOutage();
        }
      },
    });
  }

  return {
    init: (options) => driver.init(options),
    async acquireConnection(options) {
      try {
        return report(await driver.acquireConnection(options));
      } catch (error) {
        return rethrow(new DatabaseUnavailable(error));
      }
    },
    beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings).catch(rethrow),
    commitTransaction: (connection) => driver.commitTransaction(connection).catch(rethrow),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection).catch(rethrow),
    releaseConnection: (connection, options) => driver.releaseConnection(connection, options),
    destroy: (options) => driver.destroy(options),
  };

  function rethrow(error: unknown): never {
    const known = toStorageError(error);
    if (known instanceof DatabaseUnavailable) onOutage();
    throw known;
  }
}
