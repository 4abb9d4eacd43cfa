/** Applies the limits of `service/limits.ts` to requests, and those of addresses. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../../platform/config/config.ts';
import { createAddressLimit, sentTooMany } from '../../service/limits.ts';
import type { AddressLimit, Limits } from '../../service/limits.ts';
import type { ServiceError } from '../../service/service-error.ts';

export type { AddressLimit } from '../../service/limits.ts';

/**
 * Over `max` refusals within a minute, further ones of the address are answered as `rate_limited` and no longer recorded.
 * A valid token or key always passes: other people share the address, or the program that calls for all of them.
 */
export function createRefusalLimit(max: number, now?: () => number): AddressLimit {
  return createAddressLimit({ max, words: 'Too many of your tokens and keys were refused.' }, now);
}

/** For routes without a token. `exceeded` gets each request that is refused. */
export function limitAddresses(
  fastify: FastifyInstance,
  max: number,
  exceeded: (request: FastifyRequest) => void = () => undefined,
): void {
  const limit = createAddressLimit({
    max,
    words: sentTooMany('Your address has', max),
  });
  fastify.addHook('onRequest', async (request) => {
    const refusal = limit.refusalOf(request.ip);
    if (!refusal) return limit.count(request.ip);
    exceeded(request);
    throw refusal;
  });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a request with this body answers a question: then it has limits of its own. */
    isAnswer?: (body: unknown) => boolean;
  }
}

/** The refusals of requests that exceed a limit of open ones, and were let in because they seem to answer a question. */
const beyondLimit = new WeakMap<FastifyRequest, ServiceError>();

/** For a request that turns out to answer nothing. */
export function refuseBeyondLimit(request: FastifyRequest): void {
  const refusal = beyondLimit.get(request);
  if (refusal) throw refusal;
}

function isAnswer({ routeOptions, body }: FastifyRequest): boolean {
  return routeOptions.config.isAnswer?.(body) === true;
}

/** The rates of each caller, of each program for all its users, and of each tenant. */
export function limitRequests(api: FastifyInstance, limits: Limits): void {
  api.addHook('preHandler', async (request) => {
    const refusal = limits.request(request.principal, isAnswer(request));
    if (refusal) throw refusal;
  });
}

/**
 * Mainly for streams, which stay open as long as their reader wants. Answers are limited only by address, because the other
 * open requests of their user may be waiting for them.
 */
export function limitOpenRequests(api: FastifyInstance, limits: Limits, perAddress: number): void {
  const words = `Your address has ${perAddress} requests and streams open at once; end one of them first.`;
  const addresses = createAddressLimit({ max: perAddress, words, per: 'now' });
  api.addHook('onRequest', async (request, reply) => {
    const { ip, principal, routeOptions } = request;
    const ofAddress = addresses.refusalOf(ip);
    if (ofAddress) throw ofAddress;
    const refusal = limits.openRefusal(principal);
    if (refusal && !routeOptions.config.isAnswer) throw refusal;
    if (refusal) beyondLimit.set(request, refusal);
    const close = limits.open(principal);
    addresses.count(ip);
    reply.raw.once('close', () => {
      close();
      addresses.count(ip, -1);
    });
  });
  api.addHook('preHandler', async (request) => {
    if (!isAnswer(request)) refuseBeyondLimit(request);
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
