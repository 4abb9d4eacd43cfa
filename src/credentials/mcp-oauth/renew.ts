/**
 * Renews an access token, once however many calls ask for it at the same time: under the connection's lock, and only if the
 * token is still the one that the caller found expired.
 */
import { refreshAuthorization } from '@modelcontextprotocol/client';
import type { OAuthTokens } from '@modelcontextprotocol/client';
import type { ConnectionKey, ConnectionRow } from '../../storage/schema/account-tables.ts';
import { scopesOf } from '@interlude-ai/core/oauth/scopes.ts';
import { readingTokens, TokenEndpointError } from '../oauth/tokens.ts';
import { CredentialStoreError, storeError, tokenIdOf } from '../credential-store.ts';
import { underLock } from '../connection-key.ts';
import { accountFrom, freshUntil, openAccount, resourceOf, sealAccount } from './account.ts';
import type { Account } from './account.ts';
import type { AuthorizationServer } from './metadata.ts';
import { revoke } from './disconnect.ts';
import { currentIssuer, forgetNeeds } from './discovery.ts';
import type { OAuthParts } from './discovery.ts';
import { clientInformation, forgetClient } from './registration.ts';
import {
  clientNotAccepted,
  codeOf,
  inWords,
  isClientRefused,
  mayBeAboutResource,
  verdictOn,
} from './failure.ts';

type Renewal =
  /** Renewed, by this call or by another one meanwhile. */
  | { kind: 'renewed'; account: Account; version: number }
  /** The provider refused, and the connection is marked broken. */
  | { kind: 'refused' }
  /** The connection has changed: its row has to be read again. */
  | { kind: 'changed' };

/** Longer than one request to a provider may take, so that waiting for another renewal pays off. */
const lockWaitMs = 15_000;

/** An operator may have changed the secret at the provider first: for this time, calls wait for it. */
const secretChangeMs = 2 * 60_000;
const lookForSecretMs = 30_000;

const soonMs = 1_000;
const longestWaitMs = 60_000;

/** Throws `CredentialStoreError` when the provider cannot be asked now. */
export async function renew(parts: OAuthParts, key: ConnectionKey, tokenId: string): Promise<Renewal> {
  const { server } = parts;
  return underLock(
    parts.storage.connections,
    { key, waitMs: lockWaitMs },
    () => renewUnderLock(parts, key, tokenId),
    () => {
      throw soon(storeError(server, 'account_locked'));
    },
  );
}

async function renewUnderLock(parts: OAuthParts, key: ConnectionKey, tokenId: string): Promise<Renewal> {
  const { server } = parts;
  const { connections } = parts.storage;
  const row = await connections.get(key);
  if (!row || row.status !== 'active') return { kind: 'changed' };
  const account = openAccount(parts.keys, row, server);
  if (tokenIdOf(account.accessToken) !== tokenId) return { kind: 'renewed', account, version: row.version };
  try {
    const refreshed = await refresh(parts, row, account);
    if (row.troubledAt !== null) await connections.markTroubled(key, row.version, null);
    return await store(parts, { row, key, refreshed });
  } catch (error) {
    return conclude(parts, { row, key, account }, error);
  }
}

/** The consequences of a failed renewal. */
async function conclude(
  parts: OAuthParts,
  { row, key, account }: { row: ConnectionRow; key: ConnectionKey; account: Account },
  error: unknown,
): Promise<Renewal> {
  const { storage, now, server } = parts;
  const { client } = account;
  const verdict = error instanceof ProviderMoved ? 'refused' : verdictOn(error, client);
  // The provider may have refused because of outdated metadata.
  const isAboutGrant = codeOf(error) === 'invalid_grant';
  if (!isAboutGrant && (verdict === 'refused' || verdict === 'operators')) await forgetNeeds(parts);
  switch (verdict) {
    case 'refused':
      if (isClientRefused(error)) await forgetClient(parts, client, account);
      await storage.connections.markBroken(key, row.version, 'revoked');
      return { kind: 'refused' };
    case 'operators': {
      const since = row.troubledAt ?? now();
      if (row.troubledAt === null) await storage.connections.markTroubled(key, row.version, since);
      const retryAfterMs = now() - since < secretChangeMs ? lookForSecretMs : undefined;
      throw clientNotAccepted(server, client, codeOf(error), retryAfterMs);
    }
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

async function refresh(parts: OAuthParts, row: ConnectionRow, account: Account): Promise<Refreshed> {
  const { server } = parts;
  // A refresh token only goes to the server that issued it, even if the MCP server names another one now.
  const provider = await currentIssuer(parts, account.issuer);
  if (provider === null) throw new ProviderMoved();
  const information = clientInformation(parts, account.client, account.issuer, server);
  if (!information) throw new ProviderMoved();
  const scope = server.oauth?.scopeInRenewals === true ? scopesToRenew(row, provider).join(' ') : '';
  const request = (resource: string | null) =>
    refreshAuthorization(account.issuer, {
      metadata: provider,
      clientInformation: information,
      refreshToken: account.refreshToken ?? '',
      ...(resource !== null && { resource }),
      ...(scope !== '' && { scope }),
      fetchFn: readingTokens(parts.outbound.of(server).fetch),
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
    connectedAt,
    resource: isWithoutResource ? null : resource,
    ...(subject !== undefined && { subject }),
  };
  return { tokens, account: accountFrom(tokens, kept, parts.now()) };
}

/** Providers need not list `offline_access` among the granted scopes, but end lasting access without it. */
function scopesToRenew({ scopes }: ConnectionRow, provider: AuthorizationServer): string[] {
  const lasting = provider.scopes_supported?.includes('offline_access') === true ? ['offline_access'] : [];
  return [...new Set([...scopes, ...lasting])];
}

async function store(
  parts: OAuthParts,
  { row, key, refreshed }: { row: ConnectionRow; key: ConnectionKey; refreshed: Refreshed },
): Promise<Renewal> {
  const { storage, keys, server } = parts;
  const { tokens, account } = refreshed;
  const isStored = await storage.connections.refresh(row, {
    sealed: sealAccount(keys, key, account),
    freshUntil: freshUntil(account),
    scopes: tokens.scope === undefined ? row.scopes : scopesOf(tokens.scope),
  });
  if (isStored) return { kind: 'renewed', account, version: row.version };
  // Removed meanwhile, by a disconnect that did not wait for this renewal: the new tokens would never be used.
  if (!(await storage.connections.get(key))) await revoke(parts, account, server);
  return { kind: 'changed' };
}

/**
 * A provider that is down only for a moment must not cause a question, so the call is retried, unless the provider asks for
 * a long wait.
 */
function soon({ trouble, detail }: CredentialStoreError, waitMs = soonMs): CredentialStoreError {
  const retryAfterMs = waitMs > longestWaitMs ? undefined : Math.max(soonMs, waitMs);
  return new CredentialStoreError(trouble, { retryAfterMs, detail });
}

function waitOf(error: unknown): number | undefined {
  const answer = error instanceof TokenEndpointError ? error.answer : undefined;
  return answer?.kind === 'outage' ? (answer.retryAfterMs ?? undefined) : undefined;
}

/** The sign-in server or client of the account is no longer used. */
class ProviderMoved extends Error {}
