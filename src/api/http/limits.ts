/** How much one caller may ask of this process. Each process counts for itself. */
import type { FastifyInstance } from 'fastify';
import { ProblemError } from './problems.ts';
import { rateLimitKey } from '../../service/principal.ts';

export interface RefusalLimit {
  /** Throws a `rate_limited` when this address has been refused too often of late. */
  check(address: string): void;
  count(address: string): void;
}

const windowMs = 60_000;
/** Of addresses, or keys, that are remembered; of more, the oldest are forgotten. */
const maxNames = 10_000;
/** As many users as a program may ask for at full speed. */
const usersPerKey = 10;

/**
 * Over `max` refusals within a minute, nothing an address presents is looked at for the rest of it. Only refusals are
 * counted: one address may stand for all users of a product.
 */
export function createRefusalLimit(max: number, now: () => number = () => performance.now()): RefusalLimit {
  return createWindowLimit({ max, words: 'Too many of your tokens and keys were refused.', now });
}

/**
 * Each user for whom a program asks has the limit of a user; all of them together have one, too, as a program may name
 * as many as it likes.
 */
export function limitActingKeys(api: FastifyInstance, perUser: number): void {
  const limit = createWindowLimit({
    max: perUser * usersPerKey,
    words: 'This API key has asked too much for its users.',
    now: () => performance.now(),
  });
  api.addHook('preHandler', async ({ principal }) => {
    const actor = principal.kind === 'user' ? principal.actor : undefined;
    if (!actor) return;
    limit.check(actor.keyId);
    limit.count(actor.keyId);
  });
}

interface WindowLimit {
  /** Within a minute. */
  max: number;
  words: string;
  now: () => number;
}

function createWindowLimit({ max, words, now }: WindowLimit) {
  const counted = new Map<string, { times: number; until: number }>();
  const entryOf = (name: string) => {
    const entry = counted.get(name);
    return entry && entry.until > now() ? entry : undefined;
  };
  return {
    check(name: string) {
      const entry = entryOf(name);
      if (entry && entry.times >= max) throw tooMany(words, entry.until - now());
    },
    count(name: string) {
      const entry = entryOf(name) ?? { times: 0, until: now() + windowMs };
      counted.delete(name);
      counted.set(name, { ...entry, times: entry.times + 1 });
      const [oldest] = counted.keys();
      if (counted.size > maxNames && oldest !== undefined) counted.delete(oldest);
    },
  };
}

interface OpenRequests {
  perUser: number;
  perAddress: number;
}

/** Streams above all: each is open for as long as its reader likes. Services have no limit but their address's. */
export function limitOpenRequests(api: FastifyInstance, { perUser, perAddress }: OpenRequests): void {
  const open = new Map<string, number>();
  api.addHook('onRequest', async ({ ip, principal }, reply) => {
    const limits = [
      { key: `address ${ip}`, max: perAddress },
      ...(principal.kind === 'user' ? [{ key: rateLimitKey(principal), max: perUser }] : []),
    ];
    for (const { key, max } of limits)
      if ((open.get(key) ?? 0) >= max)
        throw tooMany(`You have ${max} requests and streams open at once; end one of them first.`, 5_000);
    for (const { key } of limits) open.set(key, (open.get(key) ?? 0) + 1);
    reply.raw.once('close', () => {
      for (const { key } of limits) {
        const left = (open.get(key) ?? 1) - 1;
        if (left > 0) open.set(key, left);
        else open.delete(key);
      }
    });
  });
}

function tooMany(reason: string, waitMs: number): ProblemError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return new ProblemError('rate_limited', `${reason} Wait ${seconds} s, then try again.`, {
    headers: { 'retry-after': String(seconds) },
  });
}
