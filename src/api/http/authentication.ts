/** Reads who is calling from a request's headers; `service/authenticate.ts` decides whether it is so. */
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { userHeader } from '../../service/authenticate.ts';
import type { Principal } from '../../service/principal.ts';
import { ServiceError } from '../../service/service-error.ts';
import type { Service } from '../../service/service.ts';
import type { RefusalLimit } from './limits.ts';
import { unauthenticated } from './problems.ts';
import { audiencesOf, metadataUrl } from './protected-resources.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is calling. Only set on routes below `requirePrincipal`. */
    principal: Principal;
  }
}

interface AuthenticationParts {
  authenticate: Service['authenticate'];
  /** How often an API key is looked at again while a response to it is open, in milliseconds. */
  recheckMs?: number;
  refusals: RefusalLimit;
  /** Under which names tokens may be for us. */
  names: { publicUrl: string; audience: string };
}

/** Every route of `fastify` and below needs a principal, found in `request.principal`. */
export function requirePrincipal(
  fastify: FastifyInstance,
  { authenticate, refusals, names, recheckMs = 30_000 }: AuthenticationParts,
): void {
  fastify.decorateRequest('principal');
  fastify.addHook('onRequest', async (request, reply) => {
    const { ip, routeOptions } = request;
    refusals.check(ip);
    const { resource } = routeOptions.config;
    const metadata = resource === undefined ? undefined : metadataUrl(names.publicUrl, resource);
    const bearer = bearerOf(request);
    if (bearer.kind === 'missing') {
      refusals.count(ip);
      throw unauthenticated(bearer.words, { metadata });
    }
    const presented = {
      bearer: bearer.token,
      audiences: audiencesOf(names, resource),
      // Sent twice, Node joins it with a comma, which no name has.
      forUser: request.headers[userHeader]?.toString(),
      address: ip,
    };
    try {
      request.principal = await authenticate(presented);
      if (isOfKey(request.principal)) hangUpWhenRevoked(reply.raw, () => authenticate(presented), recheckMs);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (error.code === 'unauthenticated' || error.code === 'cannot_act_for_users') refusals.count(ip);
      if (error.code !== 'unauthenticated') throw error;
      throw unauthenticated(error.message, { reason: 'invalid_token', metadata });
    }
  });
}

function isOfKey(principal: Principal): boolean {
  return principal.kind === 'service' || principal.actor !== undefined;
}

/** A stream may stay open for days; a key that was revoked reads on no longer than until the next look. */
function hangUpWhenRevoked(response: ServerResponse, look: () => Promise<unknown>, everyMs: number): void {
  const looking = setInterval(() => {
    look().catch((error: unknown) => {
      // While the database is away, nothing is known.
      if (error instanceof ServiceError && error.code === 'unauthenticated') response.destroy();
    });
  }, everyMs);
  response.once('close', () => clearInterval(looking));
}

type Bearer = { kind: 'given'; token: string } | { kind: 'missing'; words: string };

function bearerOf({ headers: { authorization } }: FastifyRequest): Bearer {
  const [, token] = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(authorization ?? '') ?? [];
  if (token) return { kind: 'given', token };
  const words = authorization
    ? 'Only Authorization: Bearer <token or API key> is understood.'
    : 'Send Authorization: Bearer followed by an access token or an API key.';
  return { kind: 'missing', words };
}
