/** API keys that people enter on our page, sealed. */
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionKey } from '../../storage/ports/connections.ts';
import type { Storage } from '../../storage/storage.ts';
import { requireOwner, requireScope } from '../connection-key.ts';
import { requestedScopes } from '../oauth/challenge.ts';
import { afterDoubt, connectionRequired, noCredential } from '../resolution.ts';
import type { Resolution } from '../resolution.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import { storeError } from '../store-error.ts';
import type { ConnectionRequired, CredentialStore } from '../store.ts';
import { accountOf, credentialOf, openKey, readKey, sealKey } from './api-key.ts';
import type { Malformed } from './api-key.ts';
import { tryKey } from './try-key.ts';
import type { ListTools, NotAccepted } from './try-key.ts';

export interface VaultStore extends CredentialStore {
  readonly connectedBy: 'key';
  /**
   * Tries what a person entered at its server, if that is configured, and keeps it in place of the key before.
   * Failures of the server are answers.
   */
  keep(server: ServerConfig, key: ConnectionKey, entered: string): Promise<Kept>;
}

/** Anything but `kept`: nothing was kept. */
export type Kept = { kind: 'kept'; version: number; account: string | null } | Malformed | NotAccepted;

interface Options {
  storage: Pick<Storage, 'connections'>;
  keys: KeyRing;
  listTools: ListTools;
  now?: () => number;
}

export function createVaultStore({ storage, keys, listTools, now = Date.now }: Options): VaultStore {
  const { connections } = storage;

  async function resolve(server: ServerConfig, wanted: ConnectionKey): Promise<Resolution> {
    if (server.credentialScope === 'none') return noCredential;
    const key = requireOwner(server, wanted);
    const row = await connections.get(key);
    // Of a removed connection: a late announcement of it must not settle the question that is asked now.
    if (!row) return connectionRequired('missing', await connections.lastVersion(key));
    // Whatever another store keeps, or was entered for another address, must not be sent to this one.
    if (row.store !== 'vault') return connectionRequired('missing', row.version);
    const opened = openKey(keys, row);
    if (opened.kind === 'unreadable')
      throw storeError(server, `the stored API key cannot be opened (${opened.why})`);
    const { apiKey, serverUrl } = opened.kept;
    if (serverUrl !== server.url) return connectionRequired('missing', row.version);
    if (row.status === 'broken') return connectionRequired(row.brokenReason ?? 'rejected', row.version);
    return credentialOf(server, apiKey, row.version);
  }

  return {
    connectedBy: 'key',
    resolve,
    async reject(server, wanted, { version, status, challenge, isDoubtful }) {
      if (server.credentialScope === 'none') return connectionRequired('rejected', version);
      const key = requireOwner(server, wanted);
      const row = await connections.get(key);
      // Another key since, or none: that is the answer.
      if (row?.version !== version || row.status === 'broken') return resolve(server, key);
      if (status === 403) return forbidden(version, challenge);
      if (isDoubtful) return afterDoubt(row, { connectedAt: row.updatedAt, now: now() });
      // One call of one user does not take an account away from everybody.
      if (key.user !== null) await connections.markBroken(key, version, 'rejected');
      return connectionRequired('rejected', version);
    },
    async keep(server, wanted, entered) {
      const read = readKey(entered);
      if (read.kind === 'malformed') return read;
      const { apiKey } = read;
      const key = requireScope(server, wanted);
      const tried = server.vault?.check === false ? 'accepted' : await tryKey(listTools, server, apiKey);
      if (tried !== 'accepted') return tried;
      const account = accountOf(apiKey);
      const version = await connections.establish(key, {
        store: 'vault',
        account,
        scopes: [],
        sealed: sealKey(keys, key, { apiKey, serverUrl: server.url }),
        freshUntil: null,
      });
      return { kind: 'kept', version, account };
    },
    statusOf(row, server) {
      const opened = openKey(keys, row);
      if (opened.kind === 'unreadable') return { host: null, status: 'broken', reason: 'unreadable' };
      const { serverUrl } = opened.kept;
      const { host } = new URL(serverUrl);
      if (serverUrl !== server?.url) return { host, status: 'broken', reason: 'server_changed' };
      return row.status === 'broken'
        ? { host, status: 'broken', reason: 'rejected' }
        : { host, status: 'active' };
    },
    async disconnect(key) {
      const row = await connections.remove(key);
      return row ? { kind: 'removed', revocation: { kind: 'not-offered' } } : { kind: 'nothing-there' };
    },
  };
}

/** The key is fine as far as it goes, so it stays active for what it may do. */
function forbidden(version: number, challenge: string | null): ConnectionRequired {
  const asked = requestedScopes(challenge);
  return asked === null
    ? connectionRequired('rejected', version)
    : connectionRequired('insufficient_scope', version, asked);
}
