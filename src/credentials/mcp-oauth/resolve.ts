/** A credential for one call, or why a person is needed. */
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionReason } from '../../elicitation/elicitation.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/ports/connections.ts';
import type { Storage } from '../../storage/storage.ts';
import { requireOwner } from '../connection-key.ts';
import { bearerCredential } from '../oauth/access-token.ts';
import { permissionsAmong } from '../oauth/scopes.ts';
import { connectionRequired, noCredential, tokenIdOf } from '../resolution.ts';
import type { Resolution } from '../resolution.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import { CredentialStoreError, storeError } from '../store-error.ts';
import type { ConnectionRequired } from '../store.ts';
import { openAccount } from './account.ts';
import type { Account } from './account.ts';
import type { Discovery, Needs } from './discovery.ts';
import type { Renew } from './renew.ts';

export interface ResolverParts {
  storage: Pick<Storage, 'connections'>;
  keys: KeyRing;
  discovery: Discovery;
  renew: Renew;
  now: () => number;
}

/** How often a row may turn out to have changed while it was being used. */
const maxChanges = 3;

export async function resolve(
  parts: ResolverParts,
  server: ServerConfig,
  key: ConnectionKey,
): Promise<Resolution> {
  if (server.credentialScope === 'none') return noCredential;
  return resolveRow(parts, server, requireOwner(server, key));
}

/** What the connection is worth as it is recorded now. */
export async function resolveRow(
  parts: ResolverParts,
  server: ServerConfig,
  key: ConnectionKey,
  changesLeft = maxChanges,
): Promise<Resolution> {
  const { connections } = parts.storage;
  const row = await connections.get(key);
  if (!row) {
    const needs = await parts.discovery.needsOf(server);
    if (needs.kind === 'nothing') return noCredential;
    // Of a removed connection: a late announcement of it must not settle the question that is asked now.
    return required('missing', await connections.lastVersion(key), scopesToShow(server, needs));
  }
  // Whatever another store keeps, or was connected for another address, must not be sent to this one.
  const account = row.store === 'oauth' ? openAccount(parts.keys, row, server) : null;
  if (account?.serverUrl !== server.url) return required('missing', row.version, server.oauth?.scopes);
  if (row.status === 'broken') return requiredBy(row);
  if (row.freshUntil === null || parts.now() < row.freshUntil)
    return bearerCredential(account.accessToken, row.version);
  if (account.refreshToken !== undefined) return renewed(parts, server, { key, row, account, changesLeft });
  if (isAlive(account, parts.now())) return bearerCredential(account.accessToken, row.version);
  return broken(parts, key, row, 'rejected');
}

async function renewed(
  parts: ResolverParts,
  server: ServerConfig,
  found: { key: ConnectionKey; row: ConnectionRow; account: Account; changesLeft: number },
): Promise<Resolution> {
  const { key, row, account, changesLeft } = found;
  try {
    const renewal = await parts.renew(server, key, tokenIdOf(account.accessToken));
    switch (renewal.kind) {
      case 'renewed':
        return bearerCredential(renewal.account.accessToken, renewal.version);
      case 'refused':
        return requiredBy({ ...row, brokenReason: 'revoked' });
      case 'changed':
        if (changesLeft > 0) return await resolveRow(parts, server, key, changesLeft - 1);
        throw storeError(server, 'the account keeps changing; try again');
      default:
        return renewal satisfies never;
    }
  } catch (error) {
    if (error instanceof CredentialStoreError && isAlive(account, parts.now()))
      return bearerCredential(account.accessToken, row.version);
    throw error;
  }
}

function isAlive({ expiresAt }: Account, now: number): boolean {
  return expiresAt === null || now < expiresAt;
}

export async function broken(
  { storage }: ResolverParts,
  key: ConnectionKey,
  row: ConnectionRow,
  reason: ConnectionReason,
): Promise<ConnectionRequired> {
  await storage.connections.markBroken(key, row.version, reason);
  return requiredBy({ ...row, brokenReason: reason });
}

function requiredBy(row: ConnectionRow): ConnectionRequired {
  return required(row.brokenReason ?? 'rejected', row.version, row.scopes);
}

export function required(
  reason: ConnectionReason,
  seenVersion: number,
  scopes: string[] = [],
): ConnectionRequired {
  return connectionRequired(reason, seenVersion, permissionsAmong(scopes));
}

export function scopesToShow(server: ServerConfig, needs: Needs): string[] {
  return server.oauth?.scopes ?? (needs.kind === 'oauth' ? needs.scopes : []);
}
