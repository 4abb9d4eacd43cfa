/**
 * Who is calling. A user presents a JWT of the configured issuer; a service presents an API key and has no user. Nothing
 * is ever anonymous: what cannot be checked is refused as `unauthenticated`, and when the issuer cannot be reached to
 * check it, that is `unavailable`, because the caller's token may be fine.
 */
import type { ApiKeys } from '../storage/ports/api-keys.ts';
import { createTokenVerifier } from './access-tokens.ts';
import type { TokenRules } from './access-tokens.ts';
import { isApiKey, principalOfApiKey } from './api-keys.ts';
import type { Principal } from './principal.ts';
import { ServiceError } from './service-error.ts';

export interface Presented {
  /** An access token or an API key, without the scheme. */
  bearer: string;
  /** Whom an access token has to be for: one of these. The configured audience unless given. API keys are for all. */
  audiences?: readonly string[];
}

/** Refusals are `ServiceError`s. */
export type Authenticate = (presented: Presented) => Promise<Principal>;

interface Parts {
  /** Absent: no tokens are accepted. */
  auth: TokenRules | undefined;
  apiKeys: ApiKeys;
}

export function createAuthenticate({ auth, apiKeys }: Parts): Authenticate {
  const verifyToken = auth && createTokenVerifier(auth);
  return async ({ bearer, audiences }) => {
    if (isApiKey(bearer)) return principalOfApiKey(apiKeys, bearer);
    if (verifyToken) return verifyToken(bearer, audiences);
    throw new ServiceError(
      'unauthenticated',
      'Only API keys are accepted: no issuer of tokens is configured.',
    );
  };
}
