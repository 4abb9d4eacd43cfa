/** API keys that people enter on our page, sealed. */
import type { ServerConfig } from '../../config.ts';
import type { ConnectionKey } from '../../storage/storage.ts';
import type { CredentialStore } from '../store.ts';

export interface VaultStore extends CredentialStore {
  /** Tries the key at its server if that is configured, and keeps it. Failures of the server are answers. */
  keep(server: ServerConfig, key: ConnectionKey, apiKey: string): Promise<Kept>;
}

export type Kept =
  | { kind: 'kept'; version: number; account: string | null }
  /** `message` is a sentence for people. Nothing was kept. */
  | { kind: 'malformed' | 'refused' | 'not-tried'; message: string };
