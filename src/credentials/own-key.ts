import type { ServerConfig } from '../config/config.ts';
import type { ConnectionKey } from '../storage/storage.ts';
import { connectionKey } from './connection-key.ts';
import { trouble } from './mcp-oauth/trouble.ts';

/** Whose account it is, for whoever uses it. Throws `CredentialStoreError` where that is nobody. */
export function ownKey(server: ServerConfig, owner: ConnectionKey): ConnectionKey {
  const own = connectionKey(server, owner);
  // Without this, a caller without a user would share what belongs to the whole tenant.
  if (server.credentialScope === 'user' && own.user === null)
    throw trouble(server, 'needs a user, and there is none');
  return own;
}
