/** The key under which the account of a user, or of a tenant, is stored, and the lock of a connection. */
import type { ServerConfig } from '../platform/config/config.ts';
import type { ConnectionKey } from '../storage/schema/account-tables.ts';
import type { Connections } from '../storage/tables/connections.ts';
import { storeError } from './credential-store.ts';

/** The account that a call to this server uses: the user's own, or the shared one of the tenant. */
export function connectionKey(
  server: ServerConfig,
  owner: { tenant: string; user: string | null },
): ConnectionKey {
  return {
    tenant: owner.tenant,
    server: server.name,
    user: server.credentialScope === 'user' ? owner.user : null,
  };
}

/** `connectionKey`, checked. Throws `CredentialStoreError` when the server needs a user and there is none. */
export function requireOwner(server: ServerConfig, owner: ConnectionKey): ConnectionKey {
  const key = connectionKey(server, owner);
  // Otherwise, a caller without a user would get the shared account of the tenant.
  if (server.credentialScope === 'user' && key.user === null) throw storeError(server, 'no_user');
  return key;
}

/**
 * The key for storing a new account. Throws `CredentialStoreError` when the server does not use accounts of that kind: a
 * user's own account must never become the shared one.
 */
export function requireScope(server: ServerConfig, key: ConnectionKey): ConnectionKey {
  const isShared = key.user === null;
  if (isShared === (server.credentialScope === 'project')) return key;
  throw storeError(server, isShared ? 'needs_own_account' : 'has_shared_account');
}

/**
 * Runs `work` under the lock of a connection, which excludes all other processes. `otherwise` runs when the lock cannot be
 * had in time; errors of `work` are passed on.
 */
export async function underLock<T>(
  { withLock }: Pick<Connections, 'withLock'>,
  { key, waitMs }: { key: ConnectionKey; waitMs: number },
  work: () => Promise<T>,
  otherwise: () => T | Promise<T>,
): Promise<T> {
  let isHeld = false;
  try {
    return await withLock(key, waitMs, () => {
      isHeld = true;
      return work();
    });
  } catch (error) {
    if (isHeld) throw error;
    return otherwise();
  }
}
