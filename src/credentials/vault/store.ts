import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionReason } from '../../elicitation/elicitation.ts';
import type { ConnectionKey, Storage } from '../../storage/storage.ts';
import { readChallenge, scopesOf } from '../mcp-oauth/protected-resource.ts';
import { trouble } from '../mcp-oauth/trouble.ts';
import { givenKey } from '../given-key.ts';
import { ownKey } from '../own-key.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { ConnectionRequired, Credential } from '../store.ts';
import { accountOf, readKey } from './api-key.ts';
import { credentialOf, openEntry, sealEntry } from './entry.ts';
import { tryKey } from './try-key.ts';
import type { VaultStore } from './vault-store.ts';

type Answer = Credential | ConnectionRequired;

interface Options {
  storage: Pick<Storage, 'connections'>;
  keys: KeyRing;
}

const nothing: Credential = { kind: 'credential', headers: {}, version: 0 };

export function createVaultStore({ storage, keys }: Options): VaultStore {
  const { connections } = storage;

  async function resolve(server: ServerConfig, wanted: ConnectionKey): Promise<Answer> {
    if (server.credentialScope === 'none') return nothing;
    const key = ownKey(server, wanted);
    const row = await connections.get(key);
    // Of a removed connection: late news of it must not settle the question that is asked now.
    if (!row) return required('missing', await connections.lastVersion(key));
    // Whatever another store keeps, or was entered for another address, must not be sent to this one.
    if (row.store !== 'vault') return required('missing', row.version);
    const opened = openEntry(keys, row);
    if (opened.kind === 'unreadable')
      throw trouble(server, `the stored API key cannot be opened (${opened.why})`);
    const { entry } = opened;
    if (entry.serverUrl !== server.url) return required('missing', row.version);
    if (row.status === 'broken') return required(row.brokenReason ?? 'rejected', row.version);
    return credentialOf(server, entry.apiKey, row.version);
  }

  return {
    resolve,
    async reject(server, wanted, { version, status, challenge }) {
      if (server.credentialScope === 'none') return required('rejected', version);
      const key = ownKey(server, wanted);
      const row = await connections.get(key);
      // Another key since, or none: that is the answer.
      if (row?.version !== version || row.status === 'broken') return resolve(server, key);
      if (status === 403) return forbidden(version, challenge);
      // One call of one user does not take an account away from everybody.
      if (key.user !== null) await connections.markBroken(key, version, 'rejected');
      return required('rejected', version);
    },
    async keep(server, wanted, entered) {
      const read = readKey(entered);
      if (read.kind === 'malformed') return read;
      const { apiKey } = read;
      const key = givenKey(server, wanted);
      const tried = server.vault?.check === false ? 'accepted' : await tryKey(server, apiKey);
      if (tried !== 'accepted') return tried;
      const account = accountOf(apiKey);
      const version = await connections.establish(key, {
        store: 'vault',
        account,
        scopes: [],
        sealed: sealEntry(keys, key, { apiKey, serverUrl: server.url }),
        freshUntil: null,
      });
      return { kind: 'kept', version, account };
    },
    standing(row, server) {
      const opened = openEntry(keys, row);
      if (opened.kind === 'unreadable') return { host: null, status: 'broken', reason: 'unreadable' };
      const { serverUrl } = opened.entry;
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
  const { error, scope } = readChallenge(challenge);
  const reason = error === 'insufficient_scope' || scope !== undefined ? 'insufficient_scope' : 'rejected';
  return required(reason, version, scopesOf(scope));
}

function required(reason: ConnectionReason, seenVersion: number, scopes: string[] = []): ConnectionRequired {
  return { kind: 'connection-required', reason, seenVersion, ...(scopes.length > 0 && { scopes }) };
}
