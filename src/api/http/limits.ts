/** How much one caller may ask of this process. Each process counts for itself. */
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../../platform/config/config.ts';
import { rateLimitKey } from '../../service/principal.ts';
import type { Principal } from '../../service/principal.ts';
import { ProblemError } from './problems.ts';

export interface RefusalLimit {
  /** A `rate_limited` when this address has been refused too often of late. */
  refusalOf(address: string): ProblemError | null;
  count(address: string): void;
}

const windowMs = 60_000;
/** Of addresses, or keys, that are remembered; of more, the oldest are forgotten. */
const maxNames = 10_000;
/** As many users as a program may ask for at full speed. */
const usersPerKey = 10;

/**
 * Over `max` refusals within a minute, further ones of the address are answered as `rate_limited` and no longer recorded.
 * A valid token or key always passes: other people share the address, or the program that calls for all of them.
 */
export function createRefusalLimit(max: number, now: () => number = () => performance.now()): RefusalLimit {
  return createWindowLimit({ max, words: 'Too many of your tokens and keys were refused.', now });
}

/**
 * Counts what a caller wants in one request, as if each had come in a request of its own. For each, in order: null, or
 * the `rate_limited` that it meets. The request itself is counted already, for the first.
 */
export type CountEach = (request: FastifyRequest, count: number) => Promise<(ProblemError | null)[]>;

/** The limit of each caller, and of each program for all its users. `perMinute`: of one user. */
export async function limitRequests(api: FastifyInstance, perMinute: number): Promise<CountEach> {
  const countForKey = limitActingKeys(api, perMinute);
  await api.register(rateLimit, {
    max: perMinute,
    timeWindow: windowMs,
    hook: 'preHandler',
    keyGenerator: ({ principal }) => rateLimitKey(principal),
  });
  const countForCaller = api.createRateLimit();
  const countOneMore = async (request: FastifyRequest): Promise<ProblemError | null> => {
    const refusal = countForKey(request.principal);
    if (refusal) return refusal;
    const counted = await countForCaller(request);
    return !counted.isAllowed && counted.isExceeded ? tooMany('You have asked too much.', counted.ttl) : null;
  };
  return async (request, count) => {
    const refusals: (ProblemError | null)[] = [null];
    // One after the other: of counts that are under way together, the plugin reports the last number for all.
    while (refusals.length < count) refusals.push(await countOneMore(request));
    return refusals;
  };
}

/**
 * Each user for whom a program asks has the limit of a user; all of them together have one, too, as a program may name
 * as many as it likes.
 */
function limitActingKeys(
  api: FastifyInstance,
  perUser: number,
): (principal: Principal) => ProblemError | null {
  const limit = createWindowLimit({
    max: perUser * usersPerKey,
    words: 'This API key has asked too much for its users.',
    now: () => performance.now(),
  });
  const count = (principal: Principal) => {
    const actor = principal.kind === 'user' ? principal.actor : undefined;
    if (!actor) return null;
    const refusal = limit.refusalOf(actor.keyId);
    if (!refusal) limit.count(actor.keyId);
    return refusal;
  };
  api.addHook('preHandler', async ({ principal }) => {
    const refusal = count(principal);
    if (refusal) throw refusal;
  });
  return count;
}

interface WindowLimit {
  /** Within a minute. */
  max: number;
  words: string;
  now: () => number;
}

export function createWindowLimit({ max, words, now }: WindowLimit) {
  const counted = new Map<string, { times: number; until: number }>();
  const entryOf = (name: string) => {
    const entry = counted.get(name);
    return entry && entry.until > now() ? entry : undefined;
  };
  const refusalOf = (name: string) => {
    const entry = entryOf(name);
    return entry && entry.times >= max ? tooMany(words, entry.until - now()) : null;
  };
  return {
    refusalOf,
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

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a request with this body answers a question, so that its user's open requests do not keep it out. */
    isAnswer?: (body: unknown) => boolean;
  }
}

/** The refusals of requests that exceed their user's limit, and were let in because they seem to answer a question. */
const beyondLimit = new WeakMap<FastifyRequest, ProblemError>();

/** For a request that turns out to answer nothing. */
export function refuseBeyondLimit(request: FastifyRequest): void {
  const refusal = beyondLimit.get(request);
  if (refusal) throw refusal;
}

/**
 * Mainly for streams, which stay open as long as their reader wants. Services are limited only by address. So are answers,
 * because the other open requests of their user may be waiting for them.
 */
export function limitOpenRequests(api: FastifyInstance, { perUser, perAddress }: OpenRequests): void {
  const open = new Map<string, number>();
  const openTooMany = (max: number) =>
    tooMany(`You have ${max} requests and streams open at once; end one of them first.`, 5_000);
  api.addHook('onRequest', async (request, reply) => {
    const { ip, principal, routeOptions } = request;
    const address = `address ${ip}`;
    const user = principal.kind === 'user' ? rateLimitKey(principal) : null;
    if ((open.get(address) ?? 0) >= perAddress) throw openTooMany(perAddress);
    if (user !== null && (open.get(user) ?? 0) >= perUser) {
      if (!routeOptions.config.isAnswer) throw openTooMany(perUser);
      beyondLimit.set(request, openTooMany(perUser));
    }
    const keys = user === null ? [address] : [address, user];
    for (const key of keys) open.set(key, (open.get(key) ?? 0) + 1);
    reply.raw.once('close', () => {
      for (const key of keys) {
        const left = (open.get(key) ?? 1) - 1;
        if (left > 0) open.set(key, left);
        else open.delete(key);
      }
    });
  });
  api.addHook('preHandler', async (request) => {
    if (request.routeOptions.config.isAnswer?.(request.body) !== true) refuseBeyondLimit(request);
  });
}

function tooMany(reason: string, waitMs: number): ProblemError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return new ProblemError('rate_limited', `${reason} Wait ${seconds} s, then try again.`, {
    headers: { 'retry-after': String(seconds) },
  });
}

/** Of a body with messages: where an agent takes images, there is room for those that a client sends again with each. */
export function messageBodyLimit({
  http,
  agents,
  images,
}: Pick<Config, 'http' | 'agents' | 'images'>): number {
  const isForImages = [...agents.values()].some((agent) => agent.images);
  return http.bodyLimit + (isForImages ? Math.ceil(images.maxBytesPerConversation / 3) * 4 : 0);
}
