/** All credential stores, and which one a server or connection uses. */
import type { Logger } from 'pino';
import type { Config, ServerConfig } from '../platform/config/config.ts';
import type { ConnectionRow } from '../storage/schema/account-tables.ts';
import type { Storage } from '../storage/storage.ts';
import { createOAuthStore } from './mcp-oauth/oauth-store.ts';
import { loadNangoSdk } from './nango/client.ts';
import type { ConfirmFound } from './nango/parts.ts';
import { createNangoStore } from './nango/nango-store.ts';
import type { KeyRing } from './sealing/key-ring.ts';
import type { CredentialStore } from './credential-store.ts';
import { createVaultStore } from './vault.ts';
import type { ListTools } from './vault.ts';

interface Parts {
  config: Pick<Config, 'http' | 'nango' | 'secret' | 'servers'>;
  storage: Pick<Storage, 'connections' | 'connectAttempts' | 'oauth' | 'now'>;
  keys: KeyRing;
  listTools: ListTools;
  confirmFound: ConfirmFound;
  logger: Logger;
}

/** By the name in the agents file. Null: not configured, so no server names it either. */
export async function openStores({ config, storage, keys, listTools, confirmFound, logger }: Parts) {
  const { nango, secret, servers } = config;
  const { publicUrl } = config.http;
  const { now } = storage;
  // At start, so that a missing package does not fail a turn.
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

/** The store of this server. */
export function storeOf<Known extends ByName<object>>(
  stores: Known,
  { name, store: by }: ServerConfig,
): NonNullable<Known[Name]> {
  const store = stores[by];
  if (!store) throw new Error(`servers.${name} keeps its accounts in ${by}, which is not configured`);
  return store;
}

/** The store of this connection, even if its server has another one now; null when it is no longer configured. */
export function keeperOf(stores: Stores, row: Pick<ConnectionRow, 'store'>): CredentialStore | null {
  const byName: Record<string, CredentialStore | null> = { ...stores };
  return byName[row.store] ?? null;
}
