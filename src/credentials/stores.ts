/** Every credential store there is, and which one is whose. */
import type { ServerConfig } from '../config/config.ts';
import type { ConnectionRow } from '../storage/ports/connections.ts';
import type { OAuthStore } from './mcp-oauth/store.ts';
import type { NangoStore } from './nango/store.ts';
import type { CredentialStore } from './store.ts';
import type { VaultStore } from './vault/store.ts';

export interface Stores {
  oauth: OAuthStore;
  vault: VaultStore;
  /** Null while it is not configured; then no server names it either. */
  nango: NangoStore | null;
}

/** Where the accounts of this server are kept. */
export function storeOf(stores: Stores, server: ServerConfig): CredentialStore {
  const store = stores[server.store];
  if (!store) throw new Error(`servers.${server.name} keeps its accounts at Nango, which is not configured`);
  return store;
}

/** Where this connection is kept, whatever the configuration of its server says by now; null when that is gone. */
export function keeperOf(stores: Stores, row: Pick<ConnectionRow, 'store'>): CredentialStore | null {
  const byName: Record<string, CredentialStore | null> = { ...stores };
  return byName[row.store] ?? null;
}
