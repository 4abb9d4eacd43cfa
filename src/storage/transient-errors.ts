/**
 * Which database errors are the fault of our own statement. Every other error of a driver (it cannot reach the database or log
 * in, the database is busy, read-only, full or shutting down) passes or is repaired by an operator, and the work waits for that.
 * The rule names our faults, because the list of other errors has no end: poolers and hosted databases add their own.
 */

import { AbortedTransactionError } from 'kysely';

/** What storage throws instead of a driver's error when the statement is not at fault. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
  /** The driver's: an SQLSTATE or the name of a system error. */
  readonly code: string | undefined;

  constructor(cause: unknown) {
    // A host name with two addresses fails with an error for each, and no message of its own.
    const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
    super(first instanceof Error ? first.message : String(first), { cause });
    this.code = codeOf(first);
  }
}

/** Whether the work should wait and be repeated, because the database could not do it. */
export function isDatabaseTrouble(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // Kysely's own, of a database that this process has closed because it is stopping.
  if (error instanceof DatabaseUnavailable || error.message === 'driver has already been destroyed')
    return true;
  return isDatabaseTrouble(error.cause);
}

/** The error to throw for one that a driver threw while it ran a statement. */
export function toStorageError(error: unknown): unknown {
  return error instanceof DatabaseUnavailable || isFaultOfStatement(error)
    ? error
    : new DatabaseUnavailable(error);
}

function isFaultOfStatement(error: unknown): boolean {
  // A parameter that cannot be written, or the commit of a transaction in which a statement has failed.
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
 * and what functions raise. Their letters and digits are five, so that no system error (`EPERM`) is among them.
 */
const postgresFaults = /^(?=\w{5}$)(0A|0Z|2[0-7]|2[BDF]|3[4689BF]|42|44|54|P0)|^40002$/;

/** Of these classes, what says nothing about the statement. */
const postgresTrouble = new Set([
  // A transaction that was open for too long.
  '25P03',
  '25P04',
  // A standby, or a database that was made read-only.
  '25006',
  // The role lacks a privilege, as after a login with another one.
  '42501',
]);

/** SQLITE_ERROR, INTERNAL, SCHEMA, TOOBIG, CONSTRAINT, MISMATCH, MISUSE, RANGE. The lowest byte says which. */
const sqliteFaults = new Set([1, 2, 17, 18, 19, 20, 21, 25]);
