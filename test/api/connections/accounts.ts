/** Connected accounts as the store keeps them, put straight into the database. */
import { sealAccount } from '../../../src/credentials/mcp-oauth/account.ts';
import type { KeyRing } from '../../../src/credentials/sealing/key-ring.ts';
import type { ConnectionKey } from '../../../src/storage/schema/account-tables.ts';
import type { Storage } from '../../../src/storage/storage.ts';

interface Place {
  storage: Pick<Storage, 'connections'>;
  keys: KeyRing;
}

interface Account {
  key: ConnectionKey;
  serverUrl: string;
  account?: string | null;
  scopes?: string[];
  issuer?: string;
}

/** Unless given, nothing listens at its provider's address. */
export function putAccount({ storage, keys }: Place, given: Account): Promise<number> {
  const { key, serverUrl, account = 'alice@example.com', scopes = ['issues:read', 'offline_access'] } = given;
  const { issuer = 'http://127.0.0.1:9' } = given;
  const sealed = sealAccount(keys, key, {
    accessToken: 'the-access-token',
    refreshToken: 'the-refresh-token',
    obtainedAt: Date.now(),
    connectedAt: 0,
    expiresAt: Date.now() + 3_600_000,
    serverUrl,
    issuer,
    resource: serverUrl,
    client: { kind: 'registered', registration: { client_id: 'c' } },
  });
  return storage.connections.establish(key, { store: 'oauth', account, scopes, sealed, freshUntil: null });
}
