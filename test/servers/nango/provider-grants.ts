/** What people allowed at the provider, and the tokens that were given for it. */
import { randomUUID } from 'node:crypto';

export const people = ['alice', 'bob'] as const;
export type PersonName = (typeof people)[number];

/** What a person allowed. */
export interface Grant {
  person: PersonName;
  scopes: string[];
  isRevoked: boolean;
}

export interface IssuedToken {
  accessToken: string;
  refreshToken: string;
  expiresAt: number | null;
  grant: Grant;
  isRevoked: boolean;
}

export interface PendingCode {
  challenge: string;
  grant: Grant;
}

/** Grants, tokens and codes; in memory. */
export interface ProviderState {
  codes: Map<string, PendingCode>;
  tokens: Map<string, IssuedToken>;
  refreshTokens: Map<string, Grant>;
}

interface Clock {
  tokenLifeMs(): number | null;
  now(): number;
}

/** A new pair of tokens for a grant; the tokens before it stay good for as long as they last. */
export function issue(state: ProviderState, grant: Grant, { tokenLifeMs, now }: Clock): IssuedToken {
  const life = tokenLifeMs();
  const token: IssuedToken = {
    accessToken: `acme-access-${randomUUID()}`,
    refreshToken: `acme-refresh-${randomUUID()}`,
    expiresAt: life === null ? null : now() + life,
    grant,
    isRevoked: false,
  };
  state.tokens.set(token.accessToken, token);
  state.refreshTokens.set(token.refreshToken, grant);
  return token;
}
