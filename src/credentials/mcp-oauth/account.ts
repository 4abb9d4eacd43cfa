/** What a connection keeps sealed, and how a token answer becomes that. */
import { createHash } from 'node:crypto';
import type { OAuthTokens } from '@modelcontextprotocol/client';
import { decodeJwt } from 'jose';
import { z } from 'zod';
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/storage.ts';
import { SealingError } from '../sealing/key-ring.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { Credential } from '../store.ts';
import { clientSchema } from './registration.ts';
import { trouble } from './trouble.ts';

const accountSchema = z.object({
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  obtainedAt: z.number(),
  expiresAt: z.number().nullable(),
  /** Where the tokens may go, and nowhere else: this MCP server, and this authorization server as this client. */
  serverUrl: z.string(),
  issuer: z.string(),
  resource: z.string(),
  client: clientSchema,
  /** Who the sign-in server says this is, in its own terms; absent where it says nothing. */
  subject: z.string().optional(),
});
export type Account = z.infer<typeof accountSchema>;

export function sealAccount(keys: KeyRing, key: ConnectionKey, account: Account): string {
  return keys.seal(JSON.stringify(account), accountContext(key));
}

/** Throws `CredentialStoreError`: a key that is missing here is no reason to ask a person to connect again. */
export function openAccount(keys: KeyRing, row: ConnectionRow, server: ServerConfig): Account {
  const opened = tryOpenAccount(keys, row);
  if (opened.kind === 'account') return opened.account;
  throw trouble(server, `the stored account cannot be opened (${opened.why})`);
}

export function tryOpenAccount(
  keys: KeyRing,
  row: ConnectionRow,
): { kind: 'account'; account: Account } | { kind: 'unreadable'; why: string } {
  try {
    const account = accountSchema.parse(JSON.parse(keys.open(row.sealed, accountContext(row))));
    return { kind: 'account', account };
  } catch (error) {
    const why = error instanceof SealingError ? error.message : 'has an unknown form';
    return { kind: 'unreadable', why };
  }
}

/** A list, so that no tenant or user name can be made to look like another pair. */
export function accountContext({ tenant, server, user }: ConnectionKey): string {
  return JSON.stringify(['connection', tenant, server, user]);
}

/** Throws a plain error when the tokens are of no use here. */
export function accountFrom(
  tokens: OAuthTokens,
  rest: Pick<Account, 'serverUrl' | 'issuer' | 'resource' | 'client' | 'subject'>,
  now: number,
): Account {
  // Anything else would end up, in full, in the error of whoever puts it into a header.
  const usable = tokens.token_type.toLowerCase() === 'bearer' && /^[\x21-\x7e]+$/.test(tokens.access_token);
  if (!usable) throw new Error('not a bearer token');
  const life = tokens.expires_in;
  return {
    accessToken: tokens.access_token,
    ...(tokens.refresh_token !== undefined && { refreshToken: tokens.refresh_token }),
    obtainedAt: now,
    expiresAt: life === undefined || !(life > 0) ? null : now + life * 1000,
    ...rest,
  };
}

/** A minute before the end, or a third of the life of a very short one. */
export function freshUntil({ obtainedAt, expiresAt }: Account): number | null {
  return expiresAt === null ? null : expiresAt - Math.min(60_000, (expiresAt - obtainedAt) / 3);
}

export function credentialOf(account: Account, version: number): Credential {
  return {
    kind: 'credential',
    headers: { authorization: `Bearer ${account.accessToken}` },
    version,
    tokenId: tokenIdOf(account),
  };
}

export function tokenIdOf({ accessToken }: Account): string {
  return createHash('sha256').update(accessToken).digest('base64url').slice(0, 16);
}

/** As whom, for people to read. */
export function accountName(tokens: Pick<OAuthTokens, 'id_token'>): string | null {
  const claims = claimsOf(tokens);
  const name = [claims['email'], claims['preferred_username'], claims['name']].find(
    (claim) => typeof claim === 'string',
  );
  return typeof name === 'string' && /^[^\p{C}]{1,200}$/u.test(name) ? name : null;
}

export function subjectOf(tokens: Pick<OAuthTokens, 'id_token'>): Pick<Account, 'subject'> {
  const { sub } = claimsOf(tokens);
  return typeof sub === 'string' ? { subject: sub } : {};
}

/** Comes straight from the token endpoint and lets nobody in, so it is not verified. */
function claimsOf({ id_token: idToken }: Pick<OAuthTokens, 'id_token'>): Record<string, unknown> {
  if (idToken === undefined) return {};
  try {
    return decodeJwt(idToken);
  } catch {
    return {};
  }
}
