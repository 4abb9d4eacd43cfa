/**
 * Who is calling. A user presents a JWT of the configured issuer; a service presents an API key and has no user, unless
 * its key has the right to name one. Nothing is ever anonymous: what cannot be checked is refused as `unauthenticated`, and when the issuer cannot be reached to
 * check it, that is `unavailable`, because the caller's token may be fine.
 */
import type { ApiKey, ApiKeys } from '../storage/ports/api-keys.ts';
import { createTokenVerifier, userFromClaims, WrongAudience } from './access-tokens.ts';
import type { TokenRules } from './access-tokens.ts';
import { findApiKey, isApiKey } from './api-keys.ts';
import { isNameableUser } from './principal.ts';
import type { Principal, UserPrincipal } from './principal.ts';
import type { RecordRefusal, Refusal } from './record-refusal.ts';
import { invalidInput, ServiceError } from './service-error.ts';

export interface Presented {
  /** An access token or an API key, without the scheme. */
  bearer: string;
  /** Whom an access token has to be for: one of these. The configured audience unless given. API keys are for all. */
  audiences?: readonly string[];
  /** The user whom a program says it acts for; `''` is none, and refused. */
  forUser?: string | undefined;
  /** Where from, for the audit. */
  address?: string;
  /** False: so much was refused of this address that further refusals are not recorded. */
  isRecorded?: boolean;
}

/** The header with which a program names the user, on every surface. */
export const userHeader = 'x-interlude-user';

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
  return async ({ bearer, audiences, forUser, address = null, isRecorded = true }) => {
    const refused = (refusal: Omit<Refusal, 'elicitationId' | 'address'>) =>
      isRecorded ? recordRefusal({ ...refusal, elicitationId: '', address }) : undefined;
    if (isApiKey(bearer)) {
      const key = await findApiKey(apiKeys, bearer);
      if (forUser === undefined) {
        const { tenant, id: keyId, service } = key;
        return { kind: 'service', tenant, keyId, service };
      }
      if (key.actsForUsers) return actFor(key, forUser);
      await refused({ tenant: key.tenant, actor: null, detail: `key ${key.id} named a user` });
      throw new ServiceError(
        'cannot_act_for_users',
        `This API key may not act for users. Leave ${userHeader} out, or ask the operator for a key that may.`,
      );
    }
    if (!auth || !verifyToken)
      throw new ServiceError(
        'unauthenticated',
        'Only API keys are accepted: no issuer of tokens is configured.',
      );
    const principal = await verifyToken(bearer, audiences).catch(async (error: unknown) => {
      // A program that was given the token for something else tries it here, so its user should be able to find out.
      if (error instanceof WrongAudience) {
        const { tenant, user } = userFromClaims(error.claims, auth);
        await refused({ tenant, actor: user, detail: 'token for another audience' });
      }
      throw error;
    });
    if (forUser === undefined) return principal;
    const { tenant, user } = principal;
    await refused({ tenant, actor: user, detail: 'a user named another' });
    throw new ServiceError(
      'cannot_act_for_users',
      `Whoever signs in acts for themselves. Leave ${userHeader} out.`,
    );
  };
}

/** Never an operator, whoever is named. */
function actFor({ tenant, id: keyId, service, approvesForUsers }: ApiKey, user: string): UserPrincipal {
  if (!isNameableUser(user))
    throw invalidInput(
      [userHeader],
      'name one user by their id as it is: 1–255 visible ASCII characters, without "," and "%"',
    );
  return { kind: 'user', tenant, user, actor: { keyId, service, mayApprove: approvesForUsers } };
}
