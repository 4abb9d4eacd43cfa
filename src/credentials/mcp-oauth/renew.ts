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
import { tokenIdOf } from '../resolution.ts';
import { CredentialStoreError, storeError } from '../store-error.ts';
import { underLock } from '../under-lock.ts';
import { accountFrom, freshUntil, openAccount, sealAccount } from './account.ts';
import type { Account } from './account.ts';
import type { Discovery } from './discovery.ts';
import type { Outbound } from './outbound.ts';
import type { Registrations } from './registration.ts';
import type { Revoke } from './revoke.ts';
import { inWords, isClientRefused, isOutage, isRefusal } from './failure.ts';

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
  let refreshed: Refreshed;
  try {
    refreshed = await refresh(parts, server, account);
  } catch (error) {
    if (!(error instanceof ProviderMoved) && !isFinal(error, account))
      throw isOutage(error) ? soon(inWords(server, error)) : inWords(server, error);
    if (isClientRefused(error)) {
      await parts.registrations.forget(account.client, account);
      await parts.discovery.forget(server);
    }
    await connections.markBroken(key, row.version, 'revoked');
    return { kind: 'refused' };
  }
  return store(parts, server, { row, key, refreshed });
}

interface Refreshed {
  tokens: OAuthTokens;
  account: Account;
}

async function refresh(
  { discovery, registrations, outbound, now }: Dependencies,
  server: ServerConfig,
  account: Account,
): Promise<Refreshed> {
  // A refresh token goes to the server that issued it, whatever the MCP server says today.
  const provider = await discovery.currentIssuer(server, account.issuer);
  if (provider === null) throw new ProviderMoved();
  const clientInformation = registrations.informationOf(account.client, account.issuer, server);
  if (!clientInformation) throw new ProviderMoved();
  const tokens = await refreshAuthorization(account.issuer, {
    metadata: provider,
    clientInformation,
    refreshToken: account.refreshToken ?? '',
    resource: account.resource,
    fetchFn: outbound.of(server).fetch,
  });
  const { serverUrl, issuer, resource, client, subject } = account;
  const kept = { serverUrl, issuer, resource, client, ...(subject !== undefined && { subject }) };
  return { tokens, account: accountFrom(tokens, kept, now()) };
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

/** Somebody has agreed to this account once, so a call that has time waits for who is only away. */
function soon({ message, detail }: CredentialStoreError): CredentialStoreError {
  return new CredentialStoreError(message, { retryAfterMs: soonMs, detail });
}

/** The account belongs to a sign-in server or client that is not used any more. */
class ProviderMoved extends Error {}

/** A client that an operator configured and that is refused is the operator's to mend, not the user's. */
function isFinal(error: unknown, { client }: Account): boolean {
  return isRefusal(error) && !(isClientRefused(error) && client.kind === 'configured');
}
