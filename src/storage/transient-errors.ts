/**
 * Which database errors are the fault of our own statement, and a dialect that reports the others. Every other error of a
 * driver (it cannot reach the database or log in, the database is busy, read-only, full or shutting down) passes or is
 * repaired by an operator, and the work waits for that. The rule lists our faults, because the list of other errors has no
 * end: poolers and hosted databases add their own.
 */
import { AbortedTransactionError } from 'kysely';
import type { DatabaseConnection, Dialect, Driver } from 'kysely';

/** Thrown by storage instead of a driver's error when the statement is not at fault. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
  /** The driver's: an SQLSTATE or the name of a system error. */
  readonly code: string | undefined;

  constructor(cause: unknown) {
    // A host name with two addresses fails with an error for each, and without a message.
    const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
    super(first instanceof Error ? first.message : String(first), { cause });
    this.code = codeOf(first);
  }
}

/** Whether the work should wait and be repeated, because the database could not do it. */
export function isDatabaseTrouble(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // Kysely's error for a database that this process has closed while it stops.
  if (error instanceof DatabaseUnavailable || error.message === 'driver has already been destroyed')
    return true;
  return isDatabaseTrouble(error.cause);
}

/** The error to throw for a driver's error during a statement. */
export function toStorageError(error: unknown): unknown {
  return error instanceof DatabaseUnavailable || isFaultOfStatement(error)
    ? error
    : new DatabaseUnavailable(error);
}

function isFaultOfStatement(error: unknown): boolean {
  // A parameter that cannot be written, or the commit of a transaction with a failed statement.
  if (error instanceof RangeError || error instanceof AbortedTransactionError) return true;
  if (error instanceof TypeError) return codeOf(error) !== 'ERR_INVALID_URL';
  if (!(error instanceof Error)) return false;
  if ('errcode' in error && typeof error.errcode === 'number') return sqliteFaults.has(error.errcode & 0xff);
  const code = codeOf(error);
  return code !== undefined && postgresFaults.test(code) && !postgresTrouble.has(code);
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/**
 * By the class of the SQLSTATE: features, data, constraints, transaction states, names, syntax, views, limits of a statement,
 * and errors raised by functions. SQLSTATEs have five characters, so no system error (`EPERM`) matches.
 */
const postgresFaults = /^(?=\w{5}$)(0A|0Z|2[0-7]|2[BDF]|3[4689BF]|42|44|54|P0)|^40002$/;

/** Of these classes, errors that say nothing about the statement. */
const postgresTrouble = new Set([
  // A transaction was open for too long.
  '25P03',
  '25P04',
  // A standby, or a database that was made read-only.
  '25006',
  // The role lacks a privilege, as after a login with another role.
  '42501',
]);

/** SQLITE_ERROR, INTERNAL, SCHEMA, TOOBIG, CONSTRAINT, MISMATCH, MISUSE, RANGE. The lowest byte says which. */
const sqliteFaults = new Set([1, 2, 17, 18, 19, 20, 21, 25]);

/** A slower statement waited for a database that did not respond, or its process was frozen. */
const slowMs = 5_000;

/**
 * The same dialect, whose driver throws `DatabaseUnavailable` unless the statement is at fault. `onOutage` is called whenever
 * the database could not do its work, and after each slow statement.
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

  /** Drivers begin and end transactions with the same method. Pooled connections come back here, and are wrapped once. */
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
