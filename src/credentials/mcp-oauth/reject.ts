/** A server has refused a credential: there is another one by now, or a person is needed. */
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/ports/connections.ts';
import { requireOwner } from '../connection-key.ts';
import { bearerCredential } from '../oauth/access-token.ts';
import { readChallenge, requestedScopes } from '../oauth/challenge.ts';
import { scopesOf } from '../oauth/scopes.ts';
import { afterDoubt, tokenIdOf } from '../resolution.ts';
import type { Resolution } from '../resolution.ts';
import { permissionsAmong } from '../oauth/scopes.ts';
import type { ConnectionRequired, Refusal, Unrelated } from '../store.ts';
import { openAccount } from './account.ts';
import type { Account } from './account.ts';
import type { Discovery } from './discovery.ts';
import { broken, required, resolveRow, scopesToShow } from './resolve.ts';
import type { ResolverParts } from './resolve.ts';

/** A token this young that is refused would be refused again if it were renewed. */
const tooYoungToRenewMs = 30_000;

export async function reject(
  parts: ResolverParts,
  server: ServerConfig,
  key: ConnectionKey,
  refusal: Refusal,
): Promise<Resolution | Unrelated> {
  const own = requireOwner(server, key);
  const row = await parts.storage.connections.get(own);
  if (!row && refusal.version === 0) return notConnected(parts, server, own, refusal);
  // Connected anew, removed or found broken since: what is there now is the answer.
  if (row?.version !== refusal.version || row.status === 'broken') return resolveRow(parts, server, own);
  return refusal.status === 403
    ? forbidden(parts, server, row, refusal)
    : unauthorized(parts, server, { key: own, row, refusal });
}

async function notConnected(
  { storage, discovery }: ResolverParts,
  server: ServerConfig,
  key: ConnectionKey,
  { challenge }: Refusal,
): Promise<ConnectionRequired> {
  const asked = scopesOf(readChallenge(challenge).scope);
  const needs = await discovery.needsAfterRefusal(server, challenge);
  const scopes = asked.length > 0 ? asked : scopesToShow(server, needs);
  return required('missing', await storage.connections.lastVersion(key), scopes);
}

/**
 * The account is fine as far as it goes, so it stays active for what it may do. A server that refuses what it
 * names as enough wants another account, or nobody: then no permission is left to ask for.
 */
async function forbidden(
  { discovery }: ResolverParts,
  server: ServerConfig,
  row: ConnectionRow,
  { challenge }: Refusal,
): Promise<ConnectionRequired> {
  const asked = requestedScopes(challenge);
  if (asked === null) return required('rejected', row.version, row.scopes);
  const { scope } = readChallenge(challenge);
  const named = scope === undefined ? await publishedScopes(discovery, server) : asked;
  const missing = named.filter((one) => !row.scopes.includes(one));
  return missing.length > 0
    ? required('insufficient_scope', row.version, missing)
    : required('rejected', row.version, row.scopes);
}

async function publishedScopes(discovery: Discovery, server: ServerConfig): Promise<string[]> {
  const needs = await discovery.needsOf(server).catch(() => null);
  return needs?.kind === 'oauth' ? needs.scopes : [];
}

async function unauthorized(
  parts: ResolverParts,
  server: ServerConfig,
  refused: { key: ConnectionKey; row: ConnectionRow; refusal: Refusal },
): Promise<Resolution | Unrelated> {
  const { key, row, refusal } = refused;
  const account = openAccount(parts.keys, row, server);
  const currentId = tokenIdOf(account.accessToken);
  if (refusal.tokenId !== undefined && refusal.tokenId !== currentId)
    return bearerCredential(account.accessToken, row.version);
  if (account.refreshToken !== undefined && isOldEnough(account, parts.now())) {
    const renewal = await parts.renew(server, key, currentId);
    if (renewal.kind === 'renewed') return bearerCredential(renewal.account.accessToken, renewal.version);
    return resolveRow(parts, server, key);
  }
  if (refusal.isDoubtful)
    return afterDoubt(
      { ...row, scopes: permissionsAmong(row.scopes) },
      { connectedAt: account.connectedAt ?? 0, now: parts.now() },
    );
  // The server may have moved to another sign-in server; the next connect finds out.
  await parts.discovery.forget(server);
  // One call of one user does not take an account away from everybody; a provider that does not renew it does.
  if (key.user === null) return required('rejected', row.version, row.scopes);
  return broken(parts, key, row, 'rejected');
}

/** Of a token with a very short life, a third of it. */
function isOldEnough({ obtainedAt, expiresAt }: Account, now: number): boolean {
  const life = expiresAt === null ? Infinity : expiresAt - obtainedAt;
  return now - obtainedAt >= Math.min(tooYoungToRenewMs, life / 3);
}
