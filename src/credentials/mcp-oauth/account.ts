/** The account in the sealed value of a connection's row: made from a token response, sealed, opened, and its status. */
import type { OAuthTokens } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ServerConfig } from '../../platform/config/config.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/schema/account-tables.ts';
import { renewAt } from '../oauth/tokens.ts';
import { brokenStatus, CredentialStoreError, fitsInHeader, shownServer } from '../credential-store.ts';
import type { AccountStatus } from '../credential-store.ts';
import { SealingError } from '../sealing/key-ring.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import { clientSchema } from './records.ts';

const accountSchema = z.object({
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  obtainedAt: z.number(),
  expiresAt: z.number().nullable(),
  connectedAt: z.number(),
  /** The only places that the tokens may be sent to: this MCP server, and this authorization server as this client. */
  serverUrl: z.string(),
  issuer: z.string(),
  /** Null when the parameter is not sent. */
  resource: z.string().nullable(),
  client: clientSchema,
  /** The `sub` claim of the sign-in server, if there is one. */
  subject: z.string().optional(),
});
export type Account = z.infer<typeof accountSchema>;

export function sealAccount(keys: KeyRing, key: ConnectionKey, account: Account): string {
  return keys.seal(JSON.stringify(account), accountContext(key));
}

/** Throws `CredentialStoreError`: because of a missing key, no person should have to connect again. */
export function openAccount(keys: KeyRing, row: ConnectionRow, server: ServerConfig): Account {
  const opened = tryOpenAccount(keys, row);
  if (opened.kind === 'account') return opened.account;
  throw new CredentialStoreError({ code: 'account_sealed', server: shownServer(server), why: opened.why });
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

/** The additional authenticated data. As a JSON list, no two keys can give the same context. */
export function accountContext({ tenant, server, user }: ConnectionKey): string {
  return JSON.stringify(['connection', tenant, server, user]);
}

/** Throws a plain error when the tokens cannot be used. */
export function accountFrom(
  tokens: OAuthTokens,
  rest: Pick<Account, 'serverUrl' | 'issuer' | 'resource' | 'client' | 'subject' | 'connectedAt'>,
  now: number,
): Account {
  const usable = tokens.token_type.toLowerCase() === 'bearer' && fitsInHeader(tokens.access_token);
  if (!usable) throw new Error('not a bearer token');
  const { expires_in: lifetimeS = 0 } = tokens;
  const expiresAt = now + Math.floor(lifetimeS) * 1000;
  return {
    accessToken: tokens.access_token,
    ...(tokens.refresh_token !== undefined && { refreshToken: tokens.refresh_token }),
    obtainedAt: now,
    expiresAt: expiresAt > now && Number.isSafeInteger(expiresAt) ? expiresAt : null,
    ...rest,
  };
}

/** The `resource` parameter for an account, by the current configuration; null when it is not sent. */
export function resourceOf({ oauth }: Pick<ServerConfig, 'oauth'>, resource: string | null): string | null {
  return oauth?.resource === false ? null : resource;
}

/** Until when the access token is used without renewing it; null when it does not expire. */
export function freshUntil({ obtainedAt, expiresAt }: Account): number | null {
  return expiresAt === null ? null : renewAt({ from: obtainedAt, expiresAt });
}

/** The status that the next call would find, read only from the row. */
export function accountStatusOf(
  keys: KeyRing,
  row: ConnectionRow,
  server: ServerConfig | undefined,
  now: number,
): AccountStatus {
  const opened = row.store === 'oauth' ? tryOpenAccount(keys, row) : null;
  if (opened?.kind === 'unreadable') return { host: null, status: 'broken', reason: 'unreadable' };
  if (!opened) return { host: null, status: 'broken', reason: 'server_changed' };
  const { serverUrl, expiresAt, refreshToken } = opened.account;
  const { host } = new URL(serverUrl);
  // An account for another address is never sent to this one.
  if (serverUrl !== server?.url) return { host, status: 'broken', reason: 'server_changed' };
  if (row.status === 'broken') return brokenStatus(row, host);
  if (row.troubledAt !== null) return { host, status: 'broken', reason: 'client_refused' };
  const isExpired = expiresAt !== null && now >= expiresAt && refreshToken === undefined;
  return isExpired ? { host, status: 'broken', reason: 'rejected' } : { host, status: 'active' };
}
