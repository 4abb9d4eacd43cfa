/** Reads who is calling from a request's headers; `service/authenticate.ts` decides whether it is so. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
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
  refusals: RefusalLimit;
  /** Under which names tokens may be for us. */
  names: { publicUrl: string; audience: string };
}

/** Every route of `fastify` and below needs a principal, found in `request.principal`. */
export function requirePrincipal(
  fastify: FastifyInstance,
  { authenticate, refusals, names }: AuthenticationParts,
): void {
  fastify.decorateRequest('principal');
  fastify.addHook('onRequest', async (request) => {
    const { ip, routeOptions } = request;
    refusals.check(ip);
    const { resource } = routeOptions.config;
    const metadata = resource === undefined ? undefined : metadataUrl(names.publicUrl, resource);
    const bearer = bearerOf(request);
    if (bearer.kind === 'missing') {
      refusals.count(ip);
      throw unauthenticated(bearer.words, { metadata });
    }
    const presented = { bearer: bearer.token, audiences: audiencesOf(names, resource), address: ip };
    try {
      request.principal = await authenticate(presented);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'unauthenticated') throw error;
      refusals.count(ip);
      throw unauthenticated(error.message, { reason: 'invalid_token', metadata });
    }
  });
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
