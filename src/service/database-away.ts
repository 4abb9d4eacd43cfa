/**
 * While the database is away, the service refuses requests as `unavailable`, which each surface reports in its protocol.
 * Clients may send the same request again. This wraps the service once, for all surfaces.
 */
import { isDatabaseTrouble } from '../storage/transient-errors.ts';
import { ServiceError } from './service-error.ts';

const retryAfterMs = 5_000;

/** The same functions, also those of nested objects, throwing `unavailable` while storage cannot reach the database. */
export function refusingWhileDatabaseIsAway<Part extends object>(part: Part): Part {
  const members = Object.entries(part).map(([name, member]: [string, unknown]) => {
    if (typeof member === 'function') return [name, refusing(member as Call)];
    return [name, isPlain(member) ? refusingWhileDatabaseIsAway(member) : member];
  });
  return Object.fromEntries(members) as Part;
}

type Call = (...args: unknown[]) => unknown;

function refusing(call: Call): Call {
  return (...args) => {
    const result = call(...args);
    if (result instanceof Promise) return result.catch(refuse);
    return isIterable(result) ? refusingStream(result) : result;
  };
}

async function* refusingStream(items: AsyncIterable<unknown>): AsyncGenerator {
  try {
    yield* items;
  } catch (error) {
    refuse(error);
  }
}

function refuse(error: unknown): never {
  if (error instanceof ServiceError || !isDatabaseTrouble(error)) throw error;
  const message = 'The database cannot be reached. Try again in a few seconds.';
  throw new ServiceError('unavailable', message, { retryAfterMs, cause: error });
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
