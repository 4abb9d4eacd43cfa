import type { ServerConfig } from '../config/config.ts';
import type { ConnectionKey } from '../storage/storage.ts';
import { trouble } from './mcp-oauth/trouble.ts';

/**
 * Whose account is being given. Throws `CredentialStoreError` where the server does not use accounts of that kind: what
 * a user gives as their own must never become the account that everybody shares.
 */
export function givenKey(server: ServerConfig, key: ConnectionKey): ConnectionKey {
  const isShared = key.user === null;
  if (isShared === (server.credentialScope === 'project')) return key;
  throw trouble(
    server,
    isShared ? 'needs an account of each user' : 'has one account for everybody, which operators connect',
  );
}
