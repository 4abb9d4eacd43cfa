/** What a server's configuration says about its accounts at Nango, and whose an account is. */
import type { ServerConfig } from '../../config.ts';
import type { ConnectionKey } from '../../storage/storage.ts';
import { connectionKey } from '../connection-key.ts';
import { CredentialStoreError } from '../store.ts';

export function integrationOf({ name, nango }: ServerConfig): string {
  if (!nango) throw new Error(`servers.${name} names no integration of Nango`);
  return nango.integration;
}

export function ownKey(server: ServerConfig, owner: ConnectionKey): ConnectionKey {
  const own = connectionKey(server, owner);
  // Without this, a caller without a user would share what belongs to the whole tenant.
  if (server.credentialScope === 'user' && own.user === null)
    throw new CredentialStoreError(`${server.title} needs a user, and there is none.`);
  return own;
}
