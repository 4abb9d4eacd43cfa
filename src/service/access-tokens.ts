/**
 * Verifies access tokens of the configured issuer. Its signing keys are found by OIDC discovery on the first token; jose
 * keeps them, and fetches them again when a token names an unknown key.
 */
import { createRemoteJWKSet, customFetch, decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose';
import type { JWSHeaderParameters, JWTPayload, JWTVerifyGetKey } from 'jose';
import type { AuthConfig } from '../platform/config/config.ts';
import { discoverIssuer, fetchSoon } from '../platform/network/openid-issuer.ts';
import { isDisplayName, isTenantName, isUserId } from './principal.ts';
import type { UserPrincipal } from './principal.ts';
import { ServiceError } from './service-error.ts';

/**
 * Asymmetric algorithms only. If shared-secret algorithms were allowed, anyone could sign tokens with the issuer's public
 * key.
 */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const clockToleranceSeconds = 5;

export const usualTenantClaim = 'tenant';

export type TokenRules = Pick<AuthConfig, 'issuer' | 'audience' | 'tenantClaim' | 'operator'>;

/** The token's audience has to be one of `audiences`; by default, the configured one. */
type VerifyToken = (token: string, audiences?: readonly string[]) => Promise<UserPrincipal>;

export function createTokenVerifier(rules: TokenRules): VerifyToken {
  const keys = createIssuerKeys(rules.issuer);
  return async (token, audiences = [rules.audience]) => {
    refuseHopeless(token, rules.issuer);
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        issuer: rules.issuer,
        audience: [...audiences],
        algorithms,
        requiredClaims: ['exp', 'sub'],
        clockTolerance: clockToleranceSeconds,
      });
      requireAccessToken(protectedHeader, payload);
      return userFromClaims(payload, rules);
    } catch (error) {
      throw explain(error, rules.issuer, audiences);
    }
  };
}

/** Until when a verified token is accepted, in epoch milliseconds. */
export function validUntil(token: string): number {
  const { exp = 0 } = decodeJwt(token);
  return (exp + clockToleranceSeconds) * 1_000;
}

/** Issuers sign these for the same audience: responses to a login, and security events. */
const otherTypes = new Set(['logout+jwt', 'secevent+jwt', 'token-introspection+jwt', 'dpop+jwt']);
const otherClaims = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events'];

/** ID tokens carry the nonce or hashes of their login (OpenID Connect Core §2, §3.3.2.11), logout tokens events. */
function requireAccessToken({ typ }: JWSHeaderParameters, claims: JWTPayload): void {
  const type = typ?.toLowerCase().replace(/^application\//, '');
  if ((type === undefined || !otherTypes.has(type)) && !otherClaims.some((name) => name in claims)) return;
  throw unauthenticated('This is no access token but an ID or logout token; ask for an access token.');
}

/** The same claims mean the same user, in an access token and in an ID token from the sign-in of our pages. */
export function userFromClaims(
  claims: JWTPayload,
  { tenantClaim: configured, operator }: Pick<TokenRules, 'tenantClaim' | 'operator'>,
): UserPrincipal {
  const { sub, name } = claims;
  const tenantClaim = configured ?? usualTenantClaim;
  const tenant = claims[tenantClaim] ?? (configured === null ? 'default' : undefined);
  if (typeof sub !== 'string' || sub === '') throw unauthenticated('The token names no user (claim sub).');
  if (!isUserId(sub)) throw unauthenticated("The token's claim sub is too long or not plain text.");
  if (typeof tenant !== 'string' || !isTenantName(tenant)) {
    throw unauthenticated(
      `The token's claim ${tenantClaim} has to be a short plain text that names the tenant.`,
    );
  }
  const shown = typeof name === 'string' && isDisplayName(name) ? { name } : {};
  const roles = operator ? rolesIn(claims[operator.claim]) : [];
  const isOperator = operator !== undefined && roles.includes(operator.role);
  const seesContents =
    isOperator && operator.contentsRole !== undefined && roles.includes(operator.contentsRole);
  return {
    kind: 'user',
    tenant,
    user: sub,
    ...shown,
    ...(isOperator && { isOperator }),
    ...(seesContents && { seesContents }),
  };
}

/** The claim is a list or a single value. */
function rolesIn(claim: unknown): unknown[] {
  return Array.isArray(claim) ? claim : [claim];
}

/** Refuses what no key can make valid, before the issuer is asked for its keys. */
function refuseHopeless(token: string, issuer: string): void {
  let algorithm: string | undefined;
  let tokenIssuer: string | undefined;
  try {
    algorithm = decodeProtectedHeader(token).alg;
    tokenIssuer = decodeJwt(token).iss;
  } catch {
    throw unauthenticated('This is neither an access token (JWT) nor an API key.');
  }
  if (!algorithms.includes(algorithm ?? '')) {
    throw unauthenticated('The token has to be signed with a public-key algorithm such as RS256 or ES256.');
  }
  if (tokenIssuer !== issuer) throw unauthenticated(`The token was not issued by ${issuer}.`);
}

function createIssuerKeys(issuer: string): JWTVerifyGetKey {
  let found: Promise<JWTVerifyGetKey> | undefined;
  return async (header, token) => {
    try {
      found ??= discoverKeys(issuer);
      return await (
        await found
      )(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
        throw error;
      throw new IssuerUnavailable(issuer, error);
    }
  };

  async function discoverKeys(from: string): Promise<JWTVerifyGetKey> {
    try {
      const { jwksUri } = await discoverIssuer(from);
      return createRemoteJWKSet(new URL(jwksUri), { [customFetch]: fetchSoon });
    } catch (error) {
      // The next token tries again.
      found = undefined;
      throw error;
    }
  }
}

class IssuerUnavailable extends Error {
  override name = 'IssuerUnavailable';
  constructor(issuer: string, cause: unknown) {
    super(`The issuer ${issuer} cannot be asked for its signing keys.`, { cause });
  }
}

/** A valid token of the issuer, for another audience. */
export class WrongAudience extends ServiceError {
  override name = 'WrongAudience';
  /** Claims of the token. */
  readonly claims: JWTPayload;

  constructor(claims: JWTPayload, audiences: readonly string[]) {
    const wanted = audiences.join(' or ');
    super('unauthenticated', `The token is for another audience; ask for one with audience ${wanted}.`);
    this.claims = claims;
  }
}

function explain(error: unknown, issuer: string, audiences: readonly string[]): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof IssuerUnavailable) {
    const detail = `${error.message} Your token was not checked; try again soon.`;
    return new ServiceError('unavailable', detail, { retryAfterMs: 5_000, cause: error });
  }
  if (error instanceof errors.JWTExpired) return unauthenticated('The token has expired; get a new one.');
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return new WrongAudience(error.payload, audiences);
    const wrong: Record<string, string> = {
      iss: `The token was not issued by ${issuer}.`,
      nbf: 'The token is not valid yet; check the clocks.',
    };
    const detail = wrong[error.claim] ?? `The token lacks a usable claim ${error.claim}.`;
    return unauthenticated(detail);
  }
  return unauthenticated('The token is not signed by a key of the issuer; get a new one.');
}

function unauthenticated(detail: string): ServiceError {
  return new ServiceError('unauthenticated', detail);
}
