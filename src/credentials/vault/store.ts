import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ServerConfig } from '../../config.ts';
import type { ConnectionReason } from '../../elicitation/elicitation.ts';
import type { ConnectionKey, ConnectionRow, Storage } from '../../storage/storage.ts';
import { connectionKey } from '../connection-key.ts';
import { SealingError } from '../sealing.ts';
import type { KeyRing } from '../sealing.ts';
import { CredentialStoreError } from '../store.ts';
import type { ConnectionRequired, Credential } from '../store.ts';
import type { VaultStore } from './vault-store.ts';

const entrySchema = z.object({
  apiKey: z.string(),
  /** Where the key may go, and nowhere else. */
  serverUrl: z.string(),
});
type Entry = z.infer<typeof entrySchema>;

interface Options {
  storage: Pick<Storage, 'connections'>;
  keys: KeyRing;
}

export function createVaultStore({ storage, keys }: Options): VaultStore {
  const { connections } = storage;

  function open(row: ConnectionRow): Entry | null {
    try {
      return entrySchema.parse(JSON.parse(keys.open(row.sealed, contextOf(row))));
    } catch (error) {
      if (error instanceof SealingError || error instanceof z.ZodError) return null;
      throw error;
    }
  }

  async function resolve(
    server: ServerConfig,
    wanted: ConnectionKey,
  ): Promise<Credential | ConnectionRequired> {
    const key = connectionKey(server, wanted);
    const row = await connections.get(key);
    if (!row) return required('missing', await connections.lastVersion(key));
    if (row.store !== 'vault') return required('missing', row.version);
    const entry = open(row);
    if (!entry) throw new CredentialStoreError(`The stored key for ${server.title} cannot be opened.`);
    if (entry.serverUrl !== server.url) return required('missing', row.version);
    if (row.status === 'broken') return required(row.brokenReason ?? 'rejected', row.version);
    return credentialOf(server, entry, row.version);
  }

  return {
    resolve,
    async reject(server, wanted, { version, status }) {
      const key = connectionKey(server, wanted);
      const row = await connections.get(key);
      // Another key since, or none: that is the answer.
      if (row?.version !== version || row.status === 'broken') return resolve(server, key);
      if (status === 403) return required('rejected', version);
      await connections.markBroken(key, version, 'rejected');
      return required('rejected', version);
    },
    async keep(server, wanted, apiKey) {
      const key = connectionKey(server, wanted);
      const entry: Entry = { apiKey, serverUrl: server.url };
      const account = null;
      const sealed = keys.seal(JSON.stringify(entry), contextOf(key));
      const version = await connections.establish(key, {
        store: 'vault',
        account,
        scopes: [],
        sealed,
        freshUntil: null,
      });
      return { kind: 'kept', version, account };
    },
    standing(row, server) {
      const entry = open(row);
      if (!entry) return { host: null, status: 'broken', reason: 'unreadable' };
      const { host } = new URL(entry.serverUrl);
      if (entry.serverUrl !== server?.url) return { host, status: 'broken', reason: 'server_changed' };
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

function required(reason: ConnectionReason, seenVersion: number): ConnectionRequired {
  return { kind: 'connection-required', reason, seenVersion };
}

function credentialOf({ vault }: ServerConfig, { apiKey }: Entry, version: number): Credential {
  const { header = 'authorization' } = vault ?? {};
  const scheme = vault?.scheme ?? (header.toLowerCase() === 'authorization' ? 'Bearer' : '');
  return {
    kind: 'credential',
    headers: { [header]: scheme === '' ? apiKey : `${scheme} ${apiKey}` },
    version,
    tokenId: createHash('sha256').update(apiKey).digest('base64url').slice(0, 16),
  };
}

/** A list, so that no tenant or user name can be made to look like another pair. */
function contextOf({ tenant, server, user }: ConnectionKey): string {
  return JSON.stringify(['api-key', tenant, server, user]);
}
