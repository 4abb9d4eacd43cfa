/**
 * Whether a database error goes away by itself, or as soon as somebody has seen to the database: it cannot be reached,
 * it is busy, two transactions were in each other's way, its disk is full. Anything else says that we are wrong.
 */
export function isDatabaseTrouble(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // A name with two addresses fails with an error for each.
  if (error instanceof AggregateError && error.errors.some(isDatabaseTrouble)) return true;
  const code = 'code' in error ? error.code : undefined;
  const errcode = 'errcode' in error ? error.errcode : undefined;
  return (
    (typeof code === 'string' && (lostConnection.has(code) || passing.test(code))) ||
    (typeof errcode === 'number' && sqlitePassing.has(errcode & 0xff)) ||
    driverWords.test(error.message)
  );
}

const lostConnection = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EADDRNOTAVAIL',
  'EMFILE',
]);

/**
 * PostgreSQL: connection, serialization and deadlock, resources, an operator's intervention, its system; a lock that is
 * not free, and a transaction that was open for too long or came to a standby.
 */
const passing = /^(08|40|53|57|58)[0-9A-Z]{3}$|^(55P03|25P03|25006)$/;

/** SQLITE_BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, FULL, CANTOPEN, PROTOCOL. The lowest byte says which. */
const sqlitePassing = new Set([5, 6, 7, 8, 9, 10, 13, 14, 15]);

/** What drivers say without a code, also of a pool or a file that this process has closed because it is leaving. */
const driverWords =
  /^(Connection terminated|timeout exceeded when trying to connect|Client (has encountered a connection error|was closed)|the database was silent|Cannot use a pool after|driver has already been destroyed|database is not open)/;
