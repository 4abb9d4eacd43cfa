/**
 * Who is calling. A user presents a JWT of the configured issuer; a service presents an API key and has no user. Nothing
 * is ever anonymous: what cannot be checked is refused as `unauthenticated`, and when the issuer cannot be reached to
 * check it, that is `unavailable`, because the caller's token may be fine.
 */
import type { ApiKeys } from '../storage/ports/api-keys.ts';
import { createTokenVerifier, userFromClaims, WrongAudience } from './access-tokens.ts';
import type { TokenRules } from './access-tokens.ts';
import { isApiKey, principalOfApiKey } from './api-keys.ts';
import type { Principal } from './principal.ts';
import type { RecordRefusal } from './record-refusal.ts';
import { ServiceError } from './service-error.ts';

export interface Presented {
  /** An access token or an API key, without the scheme. */
  bearer: string;
  /** Whom an access token has to be for: one of these. The configured audience unless given. API keys are for all. */
  audiences?: readonly string[];
  /** Where from, for the audit. */
  address?: string;
}

/** Refusals are `ServiceError`s. */
export type Authenticate = (presented: Presented) => Promise<Principal>;

interface Parts {
  /** Absent: no tokens are accepted. */
  auth: TokenRules | undefined;
  apiKeys: ApiKeys;
  recordRefusal: RecordRefusal;
}

export function createAuthenticate({ auth, apiKeys, recordRefusal }: Parts): Authenticate {
  const verifyToken = auth && createTokenVerifier(auth);
  return async ({ bearer, audiences, address }) => {
    if (isApiKey(bearer)) return principalOfApiKey(apiKeys, bearer);
    if (!verifyToken)
      throw new ServiceError(
        'unauthenticated',
        'Only API keys are accepted: no issuer of tokens is configured.',
      );
    try {
      return await verifyToken(bearer, audiences);
    } catch (error) {
      if (error instanceof WrongAudience) await record(error, address ?? null);
      throw error;
    }
  };

  /** A program that was given the token for something else tries it here, so its user should be able to find out. */
  async function record({ claims }: WrongAudience, address: string | null): Promise<void> {
    if (!auth) return;
    const { tenant, user } = userFromClaims(claims, auth);
    const detail = 'token for another audience';
    await recordRefusal({ tenant, elicitationId: '', actor: user, detail, address });
  }
}
