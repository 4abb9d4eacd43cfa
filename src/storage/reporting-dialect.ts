/** Kysely's dialects, with errors that say whether the database or our statement is at fault. */
import type { DatabaseConnection, Dialect, Driver } from 'kysely';
import { DatabaseUnavailable, toStorageError } from './transient-errors.ts';

/** The same dialect: what its driver throws becomes `DatabaseUnavailable`, except for faults of a statement. */
export function reportingDialect(dialect: Dialect): Dialect {
  return {
    createDriver: () => reportingDriver(dialect.createDriver()),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  };
}

function reportingDriver(driver: Driver): Driver {
  const reporting = new WeakSet<DatabaseConnection>();

  /** Drivers begin and end transactions by the same method. Poolled connections come back here, and are changed once. */
  function report(connection: DatabaseConnection): DatabaseConnection {
    if (reporting.has(connection)) return connection;
    reporting.add(connection);
    const execute = connection.executeQuery.bind(connection);
    return Object.assign(connection, {
      executeQuery: (...query: Parameters<typeof execute>) => execute(...query).catch(rethrow),
    });
  }

  return {
    init: (options) => driver.init(options),
    async acquireConnection(options) {
      try {
        return report(await driver.acquireConnection(options));
      } catch (error) {
        throw new DatabaseUnavailable(error);
      }
    },
    beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings).catch(rethrow),
    commitTransaction: (connection) => driver.commitTransaction(connection).catch(rethrow),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection).catch(rethrow),
    releaseConnection: (connection, options) => driver.releaseConnection(connection, options),
    destroy: (options) => driver.destroy(options),
  };
}

function rethrow(error: unknown): never {
  throw toStorageError(error);
}
