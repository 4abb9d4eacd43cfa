/**
 * Who is calling. A user presents a JWT of the configured issuer; a service presents an API key and has no
 * user. Nothing is ever anonymous: what cannot be checked is refused with 401, and when the issuer cannot be
 * reached to check it, that is 503, because the caller's token may be fine.
 */
import type { FastifyInstance } from 'fastify';
import type { AuthConfig } from '../../config/config.ts';
import { isApiKey } from '../../service/api-keys.ts';
import { ProblemError, unauthenticated } from './problems.ts';
import type { RefusalLimit } from './limits.ts';
import type { Principal } from '../../service/principal.ts';
import { ServiceError } from '../../service/service-error.ts';
import type { Service } from '../../service/service.ts';
import { createTokenVerifier } from './access-tokens.ts';

export type { Principal } from '../../service/principal.ts';

/** Turns the `Authorization` header into a principal, or throws a `ProblemError`. */
export type Authenticate = (authorization: string | undefined) => Promise<Principal>;

export interface AuthParts {
  auth: Pick<AuthConfig, 'issuer' | 'audience' | 'tenantClaim' | 'operator'>;
  principalOfApiKey: Service['principalOfApiKey'];
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is calling. Only set on routes below `requirePrincipal`. */
    principal: Principal;
  }
}

export function createAuthenticate({ auth, principalOfApiKey }: AuthParts): Authenticate {
  const verifyToken = createTokenVerifier(auth);
  return async (authorization) => {
    const credential = bearerCredential(authorization);
    if (!isApiKey(credential)) return verifyToken(credential);
    return principalOfApiKey(credential).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || error.code !== 'unauthenticated') throw error;
      throw unauthenticated(error.message, 'invalid_token');
    });
  };
}

/** Every route of `fastify` and below needs a principal, found in `request.principal`. */
export function requirePrincipal(
  fastify: FastifyInstance,
  authenticate: Authenticate,
  refusals: RefusalLimit,
): void {
  fastify.decorateRequest('principal');
  fastify.addHook('onRequest', async (request) => {
    refusals.check(request.ip);
    try {
      request.principal = await authenticate(request.headers.authorization);
    } catch (error) {
      if (error instanceof ProblemError && error.statusCode === 401) refusals.count(request.ip);
      throw error;
    }
  });
}

function bearerCredential(authorization: string | undefined): string {
  if (!authorization)
    throw unauthenticated('Send Authorization: Bearer followed by an access token or an API key.');
  const [, credential] = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(authorization) ?? [];
  if (!credential) throw unauthenticated('Only Authorization: Bearer <token or API key> is understood.');
  return credential;
}
