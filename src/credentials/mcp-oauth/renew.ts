/**
 * A new access token for an old one, once however many calls ask for it at the same time: under the
 * connection's lock, and only if the token is still the one the caller found wanting.
 */
import { refreshAuthorization } from '@modelcontextprotocol/client';
import type { OAuthTokens } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/ports/connections.ts';
import type { Storage } from '../../storage/storage.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import { scopesOf } from '../oauth/scopes.ts';
import { readingTokens, TokenEndpointError } from '../oauth/token-answer.ts';
import { tokenIdOf } from '../resolution.ts';
import { CredentialStoreError, storeError } from '../store-error.ts';
import { underLock } from '../under-lock.ts';
import { accountFrom, freshUntil, openAccount, resourceOf, sealAccount } from './account.ts';
import type { Account } from './account.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import type { Discovery } from './discovery.ts';
import type { Outbound } from './outbound.ts';
import type { Registrations } from './registration.ts';
import type { Revoke } from './revoke.ts';
import {
  clientNotAccepted,
  codeOf,
  inWords,
  isClientRefused,
  mayBeAboutResource,
  verdictOn,
} from './failure.ts';

type Renewal =
  /** Renewed, by us or by somebody else meanwhile. */
  | { kind: 'renewed'; account: Account; version: number }
  /** The provider said no for good; the connection is marked broken. */
  | { kind: 'refused' }
  /** The connection has changed in a way that needs a fresh look at its row. */
  | { kind: 'changed' };

interface Dependencies {
  storage: Pick<Storage, 'connections'>;
  keys: KeyRing;
  discovery: Discovery;
  registrations: Registrations;
  outbound: Outbound;
  revoke: Revoke;
  now: () => number;
}

/** Longer than one request to a provider may take, so that waiting for somebody else's refresh pays off. */
const lockWaitMs = 15_000;

const soonMs = 1_000;
const longestWaitMs = 60_000;

export type Renew = (server: ServerConfig, key: ConnectionKey, tokenId: string) => Promise<Renewal>;

/** Throws `CredentialStoreError` when the provider cannot be asked now. */
export function createRenew(parts: Dependencies): Renew {
  return (server, key, tokenId) =>
    underLock(
      parts.storage.connections,
      { key, waitMs: lockWaitMs },
      () => renew(parts, server, key, tokenId),
      () => {
        throw soon(
          storeError(server, 'another process has been renewing this account for too long; try again later'),
        );
      },
    );
}

async function renew(
  parts: Dependencies,
  server: ServerConfig,
  key: ConnectionKey,
  tokenId: string,
): Promise<Renewal> {
  const { connections } = parts.storage;
  const row = await connections.get(key);
  if (!row || row.status !== 'active') return { kind: 'changed' };
  const account = openAccount(parts.keys, row, server);
  if (tokenIdOf(account.accessToken) !== tokenId) return { kind: 'renewed', account, version: row.version };
  try {
    const refreshed = await refresh(parts, server, row, account);
    if (row.troubledAt !== null) await connections.markTroubled(key, row.version, null);
    return await store(parts, server, { row, key, refreshed });
  } catch (error) {
    return conclude(parts, server, { row, key, account }, error);
  }
}

/** What follows from a renewal that failed. */
async function conclude(
  { storage, registrations, discovery, now }: Dependencies,
  server: ServerConfig,
  { row, key, account }: { row: ConnectionRow; key: ConnectionKey; account: Account },
  error: unknown,
): Promise<Renewal> {
  const { client } = account;
  const verdict = error instanceof ProviderMoved ? 'refused' : verdictOn(error, client);
  // Otherwise what was remembered of the sign-in server may be what it refuses.
  const isAboutGrant = codeOf(error) === 'invalid_grant';
  if (!isAboutGrant && (verdict === 'refused' || verdict === 'operators')) await discovery.forget(server);
  switch (verdict) {
    case 'refused':
      if (isClientRefused(error)) await registrations.forget(client, account);
      await storage.connections.markBroken(key, row.version, 'revoked');
      return { kind: 'refused' };
    case 'operators':
      if (row.troubledAt === null) await storage.connections.markTroubled(key, row.version, now());
      throw clientNotAccepted(server, client, codeOf(error));
    case 'outage':
      throw soon(inWords(server, error), waitOf(error));
    case 'unclear':
      throw inWords(server, error);
    default:
      return verdict satisfies never;
  }
}

interface Refreshed {
  tokens: OAuthTokens;
  account: Account;
}

async function refresh(
  { discovery, registrations, outbound, now }: Dependencies,
  server: ServerConfig,
  row: ConnectionRow,
  account: Account,
): Promise<Refreshed> {
  // A refresh token goes to the server that issued it, whatever the MCP server says today.
  const provider = await discovery.currentIssuer(server, account.issuer);
  if (provider === null) throw new ProviderMoved();
  const clientInformation = registrations.informationOf(account.client, account.issuer, server);
  if (!clientInformation) throw new ProviderMoved();
  const scope = server.oauth?.scopeInRenewals === true ? scopesToRenew(row, provider).join(' ') : '';
  const request = (resource: string | null) =>
    refreshAuthorization(account.issuer, {
      metadata: provider,
      clientInformation,
      refreshToken: account.refreshToken ?? '',
      ...(resource !== null && { resource }),
      ...(scope !== '' && { scope }),
      fetchFn: readingTokens(outbound.of(server).fetch),
    });
  const resource = resourceOf(server, account.resource);
  const { tokens, isWithoutResource } = await request(resource)
    .then((tokens) => ({ tokens, isWithoutResource: resource === null }))
    .catch(async (error: unknown) => {
      if (resource === null || !mayBeAboutResource(error)) throw error;
      return { tokens: await request(null), isWithoutResource: true };
    });
  const { serverUrl, issuer, client, subject, connectedAt } = account;
  const kept = {
    serverUrl,
    issuer,
    client,
    resource: isWithoutResource ? null : resource,
    ...(subject !== undefined && { subject }),
    ...(connectedAt !== undefined && { connectedAt }),
  };
  return { tokens, account: accountFrom(tokens, kept, now()) };
}

/** Providers need not repeat `offline_access` among what they granted, but end lasting access without it. */
function scopesToRenew({ scopes }: ConnectionRow, provider: AuthorizationServer): string[] {
  const lasting = provider.scopes_supported?.includes('offline_access') === true ? ['offline_access'] : [];
  return [...new Set([...scopes, ...lasting])];
}

async function store(
  { storage, keys, revoke }: Dependencies,
  server: ServerConfig,
  { row, key, refreshed }: { row: ConnectionRow; key: ConnectionKey; refreshed: Refreshed },
): Promise<Renewal> {
  const { tokens, account } = refreshed;
  const isStored = await storage.connections.refresh(row, {
    sealed: sealAccount(keys, key, account),
    freshUntil: freshUntil(account),
    scopes: tokens.scope === undefined ? row.scopes : scopesOf(tokens.scope),
  });
  if (isStored) return { kind: 'renewed', account, version: row.version };
  // Removed meanwhile by somebody who could not wait for us: then nobody is left who would ever use the new tokens.
  if (!(await storage.connections.get(key))) await revoke(account, server);
  return { kind: 'changed' };
}

/** The person has agreed to this account once, so a call waits for a provider that is only away, unless that is for long. */
function soon({ message, detail }: CredentialStoreError, waitMs = soonMs): CredentialStoreError {
  const retryAfterMs = waitMs > longestWaitMs ? undefined : Math.max(soonMs, waitMs);
  return new CredentialStoreError(message, { retryAfterMs, detail });
}

/** How long the provider asked us to wait. */
function waitOf(error: unknown): number | undefined {
  const answer = error instanceof TokenEndpointError ? error.answer : undefined;
  return answer?.kind === 'outage' ? (answer.retryAfterMs ?? undefined) : undefined;
}

/** The account belongs to a sign-in server or client that is not used any more. */
class ProviderMoved extends Error {}
