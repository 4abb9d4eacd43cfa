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
/** Of addresses that are remembered; of more, the oldest are forgotten. */
const maxAddresses = 10_000;

/**
 * Over `max` refusals within a minute, nothing an address presents is looked at for the rest of it. Only refusals are
 * counted: one address may stand for all users of a product.
 */
export function createRefusalLimit(max: number, now: () => number = () => performance.now()): RefusalLimit {
  const refused = new Map<string, { times: number; until: number }>();
  const entryOf = (address: string) => {
    const entry = refused.get(address);
    return entry && entry.until > now() ? entry : undefined;
  };
  return {
    check(address) {
      const entry = entryOf(address);
      if (entry && entry.times >= max)
        throw tooMany('Too many of your tokens and keys were refused.', entry.until - now());
    },
    count(address) {
      const entry = entryOf(address) ?? { times: 0, until: now() + windowMs };
      refused.delete(address);
      refused.set(address, { ...entry, times: entry.times + 1 });
      const [oldest] = refused.keys();
      if (refused.size > maxAddresses && oldest !== undefined) refused.delete(oldest);
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
