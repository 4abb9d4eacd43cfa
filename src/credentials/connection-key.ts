/** Whose account it is: under which key a connection is stored, for whoever uses it and for whoever gives it. */
import type { ServerConfig } from '../config/config.ts';
import type { ConnectionKey } from '../storage/ports/connections.ts';
import { storeError } from './store-error.ts';

/** Whose account a call to this server uses: the asking user's own, or one that the whole tenant shares. */
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

/** The same for a store that looks an account up. Throws `CredentialStoreError` where it is nobody's. */
export function requireOwner(server: ServerConfig, owner: ConnectionKey): ConnectionKey {
  const key = connectionKey(server, owner);
  // Without this, a caller without a user would share what belongs to the whole tenant.
  if (server.credentialScope === 'user' && key.user === null)
    throw storeError(server, 'needs a user, and there is none');
  return key;
}

/**
 * The key under which an account that is being given is stored. Throws `CredentialStoreError` where the server does not
 * use accounts of that kind: what a user gives as their own must never become the account that everybody shares.
 */
export function requireScope(server: ServerConfig, key: ConnectionKey): ConnectionKey {
  const isShared = key.user === null;
  if (isShared === (server.credentialScope === 'project')) return key;
  throw storeError(
    server,
    isShared ? 'needs an account of each user' : 'has one account for everybody, which operators connect',
  );
}
