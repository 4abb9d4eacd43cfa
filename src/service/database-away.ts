/**
 * Makes an outage of the database a refusal like any other, at the one place where surfaces call the service: each answers
 * `unavailable` in its protocol. What the request asked for may be asked for again.
 */
import { isDatabaseTrouble } from '../storage/transient-errors.ts';
import { ServiceError } from './service-error.ts';

const retryAfterMs = 5_000;

/** The same functions, also in objects within. Where storage could not reach the database, they throw `unavailable`. */
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
