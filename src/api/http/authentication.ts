/** Reads who is calling from a request's headers; `service/authenticate.ts` decides whether it is so. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Principal } from '../../service/principal.ts';
import { ServiceError } from '../../service/service-error.ts';
import type { Service } from '../../service/service.ts';
import type { RefusalLimit } from './limits.ts';
import { unauthenticated } from './problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is calling. Only set on routes below `requirePrincipal`. */
    principal: Principal;
  }
}

interface AuthenticationParts {
  authenticate: Service['authenticate'];
  refusals: RefusalLimit;
}

/** Every route of `fastify` and below needs a principal, found in `request.principal`. */
export function requirePrincipal(
  fastify: FastifyInstance,
  { authenticate, refusals }: AuthenticationParts,
): void {
  fastify.decorateRequest('principal');
  fastify.addHook('onRequest', async (request) => {
    refusals.check(request.ip);
    const bearer = bearerOf(request, refusals);
    try {
      request.principal = await authenticate({ bearer });
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'unauthenticated') refusals.count(request.ip);
      throw error;
    }
  });
}

function bearerOf({ ip, headers: { authorization } }: FastifyRequest, refusals: RefusalLimit): string {
  const [, bearer] = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(authorization ?? '') ?? [];
  if (bearer) return bearer;
  refusals.count(ip);
  throw unauthenticated(
    authorization
      ? 'Only Authorization: Bearer <token or API key> is understood.'
      : 'Send Authorization: Bearer followed by an access token or an API key.',
  );
}
