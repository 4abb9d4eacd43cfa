/** Reads credentials from a request's headers; `service/authenticate.ts` checks them. */
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { validUntil } from '../../service/access-tokens.ts';
import { userHeader } from '../../service/authenticate.ts';
import type { Principal } from '../../service/principal.ts';
import { ServiceError } from '../../service/service-error.ts';
import type { Service } from '../../service/service.ts';
import type { AddressLimit } from './limits.ts';
import { unauthenticated } from './problems.ts';
import { audiencesOf, metadataUrl } from './protected-resources.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller. Only set on routes below `requirePrincipal`. */
    principal: Principal;
    /** When the caller's token ends, in epoch milliseconds. Infinity for an API key. */
    authorizedUntil: number;
  }
}

interface AuthenticationParts {
  authenticate: Service['authenticate'];
  /** How often an API key is checked again while a response to it is open. */
  recheckMs?: number;
  refusals: AddressLimit;
  /** What the audience of a token may be. */
  names: { publicUrl: string; audience: string };
}

/** Every route of `fastify` and below needs a principal, found in `request.principal`. */
export function requirePrincipal(
  fastify: FastifyInstance,
  { authenticate, refusals, names, recheckMs = 30_000 }: AuthenticationParts,
): void {
  fastify.decorateRequest('principal');
  fastify.decorateRequest('authorizedUntil', Infinity);
  fastify.addHook('onRequest', async (request, reply) => {
    const { ip, routeOptions } = request;
    const tooMany = refusals.refusalOf(ip);
    const refuse = (problem: Error): never => {
      if (tooMany) throw tooMany;
      refusals.count(ip);
      throw problem;
    };
    const { resource } = routeOptions.config;
    const metadata = resource === undefined ? undefined : metadataUrl(names.publicUrl, resource);
    const bearer = bearerOf(request);
    if (bearer.kind === 'missing') return refuse(unauthenticated(bearer.words, { metadata }));
    const presented = {
      bearer: bearer.token,
      audiences: audiencesOf(names, resource),
      // Node joins repeated headers with a comma, which no user id contains.
      forUser: request.headers[userHeader]?.toString(),
      address: ip,
      isRecorded: tooMany === null,
    };
    try {
      request.principal = await authenticate(presented);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { code, message } = error;
      if (code === 'unauthenticated')
        return refuse(unauthenticated(message, { reason: 'invalid_token', metadata }));
      if (code === 'cannot_act_for_users') return refuse(error);
      throw error;
    }
    if (isOfKey(request.principal)) hangUpWhenRevoked(reply.raw, () => authenticate(presented), recheckMs);
    else request.authorizedUntil = validUntil(bearer.token);
  });
}

function isOfKey(principal: Principal): boolean {
  return principal.kind === 'service' || principal.actor !== undefined;
}

/** A stream may stay open for days, so a revoked key has to end it. */
function hangUpWhenRevoked(response: ServerResponse, look: () => Promise<unknown>, everyMs: number): void {
  const looking = setInterval(() => {
    look().catch((error: unknown) => {
      // Other errors, like an outage of the database, do not mean that the key was revoked.
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
