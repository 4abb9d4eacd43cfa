/** A credential for one call, or why a person has to act; and what follows when a server has refused a credential. */
import type { ServerConfig } from '../../platform/config/config.ts';
import type { ConnectionReason } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/schema/account-tables.ts';
import { requireOwner } from '../connection-key.ts';
import { bearerCredential } from '../oauth/tokens.ts';
import {
  permissionsAmong,
  readChallenge,
  requestedScopes,
  scopesOf,
} from '@interlude-ai/core/oauth/scopes.ts';
import {
  afterDoubtfulRefusal,
  connectionRequired,
  CredentialStoreError,
  noCredential,
  storeError,
  tokenIdOf,
} from '../credential-store.ts';
import type { ConnectionRequired, Refusal, Resolution, Unrelated } from '../credential-store.ts';
import { openAccount } from './account.ts';
import type { Account } from './account.ts';
import { forgetNeeds, needsAfterRefusal, needsOf } from './discovery.ts';
import type { Needs, OAuthParts } from './discovery.ts';
import { renew } from './renew.ts';

/** How often the row may change while it is used, before this gives up. */
const maxChanges = 3;

export async function resolve(parts: OAuthParts, key: ConnectionKey): Promise<Resolution> {
  const { server } = parts;
  if (server.credentialScope === 'none') return noCredential;
  return resolveRow(parts, requireOwner(server, key));
}

/** What the stored connection gives. */
async function resolveRow(
  parts: OAuthParts,
  key: ConnectionKey,
  changesLeft = maxChanges,
): Promise<Resolution> {
  const { server } = parts;
  const { connections } = parts.storage;
  const row = await connections.get(key);
  if (!row) {
    const needs = await needsOf(parts);
    if (needs.kind === 'nothing') return noCredential;
    // The version of a removed connection: a late signal about it must not settle the new question.
    return required('missing', await connections.lastVersion(key), scopesToShow(server, needs));
  }
  // An account of another store, or for another address, must not be sent to this one.
  const account = row.store === 'oauth' ? openAccount(parts.keys, row, server) : null;
  if (account?.serverUrl !== server.url) return required('missing', row.version, server.oauth?.scopes);
  if (row.status === 'broken') return requiredBy(row);
  if (row.freshUntil === null || parts.now() < row.freshUntil)
    return bearerCredential(account.accessToken, row.version);
  if (account.refreshToken !== undefined) return renewed(parts, { key, row, account, changesLeft });
  if (isAlive(account, parts.now())) return bearerCredential(account.accessToken, row.version);
  return broken(parts, key, row, 'rejected');
}

async function renewed(
  parts: OAuthParts,
  found: { key: ConnectionKey; row: ConnectionRow; account: Account; changesLeft: number },
): Promise<Resolution> {
  const { server } = parts;
  const { key, row, account, changesLeft } = found;
  try {
    const renewal = await renew(parts, key, tokenIdOf(account.accessToken));
    switch (renewal.kind) {
      case 'renewed':
        return bearerCredential(renewal.account.accessToken, renewal.version);
      case 'refused':
        return requiredBy({ ...row, brokenReason: 'revoked' });
      case 'changed':
        if (changesLeft > 0) return await resolveRow(parts, key, changesLeft - 1);
        throw storeError(server, 'account_changing');
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

async function broken(
  { storage }: OAuthParts,
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

function required(reason: ConnectionReason, seenVersion: number, scopes: string[] = []): ConnectionRequired {
  return connectionRequired(reason, seenVersion, permissionsAmong(scopes));
}

function scopesToShow(server: ServerConfig, needs: Needs): string[] {
  return server.oauth?.scopes ?? (needs.kind === 'oauth' ? needs.scopes : []);
}

/** A younger token would be refused again after a renewal. */
const tooYoungToRenewMs = 30_000;

export async function reject(
  parts: OAuthParts,
  key: ConnectionKey,
  refusal: Refusal,
): Promise<Resolution | Unrelated> {
  const { server } = parts;
  const own = requireOwner(server, key);
  const row = await parts.storage.connections.get(own);
  if (!row && refusal.version === 0) return notConnected(parts, own, refusal);
  // The connection has changed since: resolve it again.
  if (row?.version !== refusal.version || row.status === 'broken') return resolveRow(parts, own);
  return refusal.status === 403
    ? forbidden(parts, row, refusal)
    : unauthorized(parts, { key: own, row, refusal });
}

async function notConnected(
  parts: OAuthParts,
  key: ConnectionKey,
  { challenge }: Refusal,
): Promise<ConnectionRequired> {
  const { server } = parts;
  const asked = scopesOf(readChallenge(challenge).scope);
  const needs = await needsAfterRefusal(parts, challenge);
  const scopes = asked.length > 0 ? asked : scopesToShow(server, needs);
  return required('missing', await parts.storage.connections.lastVersion(key), scopes);
}

/**
 * The account stays active for what it may do. A server that refuses the scopes that it names as sufficient wants another
 * account, or none: then there is no permission left to ask for.
 */
async function forbidden(
  parts: OAuthParts,
  row: ConnectionRow,
  { challenge }: Refusal,
): Promise<ConnectionRequired> {
  const asked = requestedScopes(challenge);
  if (asked === null) return required('rejected', row.version, row.scopes);
  const { scope } = readChallenge(challenge);
  const named = scope === undefined ? await publishedScopes(parts) : asked;
  const missing = named.filter((one) => !row.scopes.includes(one));
  return missing.length > 0
    ? required('insufficient_scope', row.version, missing)
    : required('rejected', row.version, row.scopes);
}

async function publishedScopes(parts: OAuthParts): Promise<string[]> {
  const needs = await needsOf(parts).catch(() => null);
  return needs?.kind === 'oauth' ? needs.scopes : [];
}

async function unauthorized(
  parts: OAuthParts,
  refused: { key: ConnectionKey; row: ConnectionRow; refusal: Refusal },
): Promise<Resolution | Unrelated> {
  const { server } = parts;
  const { key, row, refusal } = refused;
  const account = openAccount(parts.keys, row, server);
  const currentId = tokenIdOf(account.accessToken);
  if (refusal.tokenId !== undefined && refusal.tokenId !== currentId)
    return bearerCredential(account.accessToken, row.version);
  if (account.refreshToken !== undefined && isOldEnough(account, parts.now())) {
    const renewal = await renew(parts, key, currentId);
    if (renewal.kind === 'renewed') return bearerCredential(renewal.account.accessToken, renewal.version);
    return resolveRow(parts, key);
  }
  if (refusal.isDoubtful)
    return afterDoubtfulRefusal(
      { ...row, scopes: permissionsAmong(row.scopes) },
      { connectedAt: account.connectedAt, now: parts.now() },
    );
  // The server may use another sign-in server now; the next sign-in finds out.
  await forgetNeeds(parts);
  // A single refused call does not mark a shared account as broken; a provider that refuses to renew it does.
  if (key.user === null) return required('rejected', row.version, row.scopes);
  return broken(parts, key, row, 'rejected');
}

/** For a token with a very short life, a third of it. */
function isOldEnough({ obtainedAt, expiresAt }: Account, now: number): boolean {
  const life = expiresAt === null ? Infinity : expiresAt - obtainedAt;
  return now - obtainedAt >= Math.min(tooYoungToRenewMs, life / 3);
}
