/** Every credential store there is, and which one is whose. */
import type { Logger } from 'pino';
import type { Config, ServerConfig } from '../config/config.ts';
import type { ConnectionRow } from '../storage/ports/connections.ts';
import type { Storage } from '../storage/storage.ts';
import { createOAuthStore } from './mcp-oauth/store.ts';
import { loadNangoSdk } from './nango/client.ts';
import type { ConfirmFound } from './nango/look.ts';
import { createNangoStore } from './nango/store.ts';
import type { KeyRing } from './sealing/key-ring.ts';
import type { CredentialStore } from './store.ts';
import { createVaultStore } from './vault/store.ts';
import type { ListTools } from './vault/try-key.ts';

interface Parts {
  config: Pick<Config, 'http' | 'nango' | 'secret' | 'servers'>;
  storage: Pick<Storage, 'connections' | 'connectAttempts' | 'oauth' | 'now'>;
  keys: KeyRing;
  listTools: ListTools;
  confirmFound: ConfirmFound;
  logger: Logger;
}

/** By the name that the agents file has for it. Null: not configured, and then no server names it either. */
export async function openStores({ config, storage, keys, listTools, confirmFound, logger }: Parts) {
  const { nango, secret, servers } = config;
  const { publicUrl } = config.http;
  const { now } = storage;
  // At start rather than in the middle of somebody's turn.
  if ([...servers.values()].some(({ store }) => store === 'nango')) await loadNangoSdk();
  return {
    oauth: createOAuthStore({ storage, keys, publicUrl, servers, secret, now }),
    vault: createVaultStore({ storage, keys, listTools, now }),
    nango: nango
      ? createNangoStore({ storage, keys, nango, publicUrl, servers, logger, confirmFound, now })
      : null,
  } satisfies ByName<CredentialStore>;
}

export type Stores = Awaited<ReturnType<typeof openStores>>;

type Name = ServerConfig['store'];
type ByName<Store> = Record<Name, Store | null>;

/** Where the accounts of this server are kept. */
export function storeOf<Known extends ByName<object>>(
  stores: Known,
  { name, store: by }: ServerConfig,
): NonNullable<Known[Name]> {
  const store = stores[by];
  if (!store) throw new Error(`servers.${name} keeps its accounts in ${by}, which is not configured`);
  return store;
}

/** Where this connection is kept, whatever the configuration of its server says by now; null when that is gone. */
export function keeperOf(stores: Stores, row: Pick<ConnectionRow, 'store'>): CredentialStore | null {
  const byName: Record<string, CredentialStore | null> = { ...stores };
  return byName[row.store] ?? null;
}
