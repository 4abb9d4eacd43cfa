/** A credential for one call, or why a person is needed; and what to do when a server refuses one. */
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionReason } from '../../elicitation/elicitation.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/ports/connections.ts';
import type { Storage } from '../../storage/storage.ts';
import { requireOwner } from '../connection-key.ts';
import { bearerCredential } from '../oauth/access-token.ts';
import { readChallenge, requestedScopes } from '../oauth/challenge.ts';
import { permissionsAmong, scopesOf } from '../oauth/scopes.ts';
import { connectionRequired, noCredential, tokenIdOf } from '../resolution.ts';
import type { Resolution } from '../resolution.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import { CredentialStoreError, storeError } from '../store-error.ts';
import type { ConnectionRequired, CredentialStore, Refusal } from '../store.ts';
import { openAccount } from './account.ts';
import type { Account } from './account.ts';
import type { Discovery, Needs } from './discovery.ts';
import type { Renew } from './renew.ts';

interface Dependencies {
  storage: Pick<Storage, 'connections'>;
  keys: KeyRing;
  discovery: Discovery;
  renew: Renew;
  now: () => number;
}

/** A token this young that is refused would be refused again if it were renewed. */
const tooYoungToRenewMs = 30_000;

type Resolver = Pick<CredentialStore, 'resolve' | 'reject'>;

export function createResolver({ storage, keys, discovery, renew, now }: Dependencies): Resolver {
  const { connections } = storage;

  async function resolve(server: ServerConfig, key: ConnectionKey): Promise<Resolution> {
    if (server.credentialScope === 'none') return noCredential;
    return fromRow(server, requireOwner(server, key), 3);
  }

  /** `looks`: how often the row may turn out to have changed under our hands. */
  async function fromRow(server: ServerConfig, key: ConnectionKey, looks: number): Promise<Resolution> {
    const row = await connections.get(key);
    if (!row) {
      const needs = await discovery.needsOf(server);
      if (needs.kind === 'nothing') return noCredential;
      // Of a removed connection: late news of it must not settle the question that is asked now.
      return required('missing', await connections.lastVersion(key), scopesToShow(server, needs));
    }
    // Whatever another store keeps, or was connected for another address, must not be sent to this one.
    const account = row.store === 'oauth' ? openAccount(keys, row, server) : null;
    if (account?.serverUrl !== server.url) return required('missing', row.version, server.oauth?.scopes);
    if (row.status === 'broken') return requiredBy(row);
    if (row.freshUntil === null || now() < row.freshUntil)
      return bearerCredential(account.accessToken, row.version);
    if (account.refreshToken !== undefined) return renewed(server, key, row, account, looks);
    if (isAlive(account)) return bearerCredential(account.accessToken, row.version);
    return broken(key, row, 'rejected');
  }

  async function renewed(
    server: ServerConfig,
    key: ConnectionKey,
    row: ConnectionRow,
    account: Account,
    looks: number,
  ): Promise<Resolution> {
    try {
      const renewal = await renew(server, key, tokenIdOf(account.accessToken));
      switch (renewal.kind) {
        case 'renewed':
          return bearerCredential(renewal.account.accessToken, renewal.version);
        case 'refused':
          return requiredBy({ ...row, brokenReason: 'revoked' });
        case 'changed':
          if (looks > 0) return await fromRow(server, key, looks - 1);
          throw storeError(server, 'the account keeps changing; try again');
        default:
          return renewal satisfies never;
      }
    } catch (error) {
      if (error instanceof CredentialStoreError && isAlive(account))
        return bearerCredential(account.accessToken, row.version);
      throw error;
    }
  }

  async function reject(server: ServerConfig, key: ConnectionKey, refusal: Refusal): Promise<Resolution> {
    const own = requireOwner(server, key);
    const row = await connections.get(own);
    if (!row) return refusal.version === 0 ? notConnected(server, own, refusal) : fromRow(server, own, 3);
    // Connected anew or found broken since: what is there now is the answer.
    if (row.version !== refusal.version || row.status === 'broken') return fromRow(server, own, 3);
    return refusal.status === 403 ? forbidden(server, row, refusal) : unauthorized(server, own, row, refusal);
  }

  async function notConnected(
    server: ServerConfig,
    key: ConnectionKey,
    { challenge }: Refusal,
  ): Promise<ConnectionRequired> {
    const asked = scopesOf(readChallenge(challenge).scope);
    const needs = await discovery.needsAfterRefusal(server, challenge);
    const scopes = asked.length > 0 ? asked : scopesToShow(server, needs);
    return required('missing', await connections.lastVersion(key), scopes);
  }

  /**
   * The account is fine as far as it goes, so it stays active for what it may do. A server that refuses what it
   * names as enough wants another account, or nobody: then no permission is left to ask for.
   */
  async function forbidden(
    server: ServerConfig,
    row: ConnectionRow,
    { challenge }: Refusal,
  ): Promise<ConnectionRequired> {
    const asked = requestedScopes(challenge);
    if (asked === null) return required('rejected', row.version, row.scopes);
    const { scope } = readChallenge(challenge);
    const named = scope === undefined ? await publishedScopes(server) : asked;
    const missing = named.filter((one) => !row.scopes.includes(one));
    return missing.length > 0
      ? required('insufficient_scope', row.version, missing)
      : required('rejected', row.version, row.scopes);
  }

  async function publishedScopes(server: ServerConfig): Promise<string[]> {
    const needs = await discovery.needsOf(server).catch(() => null);
    return needs?.kind === 'oauth' ? needs.scopes : [];
  }

  async function unauthorized(
    server: ServerConfig,
    key: ConnectionKey,
    row: ConnectionRow,
    refusal: Refusal,
  ): Promise<Resolution> {
    const account = openAccount(keys, row, server);
    const { tokenId } = refusal;
    if (tokenId !== undefined && tokenId !== tokenIdOf(account.accessToken))
      return bearerCredential(account.accessToken, row.version);
    if (account.refreshToken !== undefined && isOldEnough(account)) {
      const renewal = await renew(server, key, tokenIdOf(account.accessToken));
      if (renewal.kind === 'renewed') return bearerCredential(renewal.account.accessToken, renewal.version);
      return fromRow(server, key, 3);
    }
    // The server may have moved to another sign-in server; the next connect finds out.
    await discovery.forget(server);
    // One call of one user does not take an account away from everybody; a provider that does not renew it does.
    if (key.user === null) return required('rejected', row.version, row.scopes);
    return broken(key, row, 'rejected');
  }

  async function broken(
    key: ConnectionKey,
    row: ConnectionRow,
    reason: ConnectionReason,
  ): Promise<ConnectionRequired> {
    await connections.markBroken(key, row.version, reason);
    return requiredBy({ ...row, brokenReason: reason });
  }

  /** Of a token with a very short life, a third of it. */
  function isOldEnough({ obtainedAt, expiresAt }: Account): boolean {
    const life = expiresAt === null ? Infinity : expiresAt - obtainedAt;
    return now() - obtainedAt >= Math.min(tooYoungToRenewMs, life / 3);
  }

  function isAlive({ expiresAt }: Account): boolean {
    return expiresAt === null || now() < expiresAt;
  }

  return { resolve, reject };
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
