/**
 * Who is calling. A user presents a JWT of the configured issuer; a service presents an API key, and names a user if its key
 * has the right to. There are no anonymous callers: what cannot be checked is refused as `unauthenticated`. If the issuer
 * cannot be reached, that is `unavailable`, because the token may be valid.
 */
import type { ApiKey, ApiKeys } from '../storage/tables/api-keys.ts';
import { createTokenVerifier, userFromClaims, WrongAudience } from './access-tokens.ts';
import type { TokenRules } from './access-tokens.ts';
import { findApiKey, isApiKey } from './api-keys.ts';
import { isNameableUser } from './principal.ts';
import type { Principal, UserPrincipal } from './principal.ts';
import { invalidInput, ServiceError } from './service-error.ts';
import type { Audit } from '../storage/tables/audit.ts';
import type { AuditEntry } from '../storage/schema/question-tables.ts';

interface Presented {
  /** An access token or an API key, without the scheme. */
  bearer: string;
  /** The audiences for which an access token is accepted; by default, the configured one. API keys have none. */
  audiences?: readonly string[];
  /** The user for whom a program says it acts; `''` names no user, and is refused. */
  forUser?: string | undefined;
  /** The caller's address, for the audit. */
  address?: string;
  /** False: so much from this address was refused that further refusals are not recorded. */
  isRecorded?: boolean;
}

/** The header in which a program names the user, on every surface. */
export const userHeader = 'x-interlude-user';

/** Refusals are `ServiceError`s. */
export type Authenticate = (presented: Presented) => Promise<Principal>;

interface Parts {
  /** Absent: tokens are not accepted. */
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
      // A program may be trying a token here that it got for something else. The audit entry lets its user find out.
      if (error instanceof WrongAudience) {
        const owner = ownerIn(error.claims, auth);
        if (owner)
          await refused({ tenant: owner.tenant, actor: owner.user, detail: 'token for another audience' });
      }
      throw error;
    });
    if (forUser === undefined) return principal;
    const { tenant, user } = principal;
    await refused({ tenant, actor: user, detail: 'a user named another' });
    throw new ServiceError(
      'cannot_act_for_users',
      `A user who signs in acts for themselves. Leave ${userHeader} out.`,
    );
  };
}

/** Null for a token that names no tenant, as one for something else may. */
function ownerIn(...token: Parameters<typeof userFromClaims>): UserPrincipal | null {
  try {
    return userFromClaims(...token);
  } catch {
    return null;
  }
}

/** Never an operator. */
function actFor({ tenant, id: keyId, service, approvesForUsers }: ApiKey, user: string): UserPrincipal {
  if (!isNameableUser(user))
    throw invalidInput(
      [userHeader],
      'name one user by their id as it is: 1–255 visible ASCII characters, without "," and "%"',
    );
  return { kind: 'user', tenant, user, actor: { keyId, service, mayApprove: approvesForUsers } };
}

/** Audits a refusal before any use case is reached, such as a forged webhook or a form of another page. */
export type Refusal = Pick<AuditEntry, 'tenant' | 'elicitationId' | 'actor' | 'detail' | 'address'>;

export type RecordRefusal = (refusal: Refusal) => Promise<void>;

export function createRecordRefusal(audit: Pick<Audit, 'record'>): RecordRefusal {
  return (refusal) => audit.record({ at: Date.now(), action: 'refused', ...refusal });
}
