/** API keys that people enter on our page, sealed. */
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionKey } from '../../storage/storage.ts';
import type { CredentialStore } from '../store.ts';

export interface VaultStore extends CredentialStore {
  /**
   * Tries what a person entered at its server, if that is configured, and keeps it in place of the key before.
   * Failures of the server are answers.
   */
  keep(server: ServerConfig, key: ConnectionKey, entered: string): Promise<Kept>;
}

/** `message` is a sentence for people, `reason` one for operators; neither repeats the key. Nothing was kept. */
export type Kept =
  | { kind: 'kept'; version: number; account: string | null }
  | { kind: 'malformed'; message: string }
  | { kind: 'refused' | 'not-tried'; message: string; reason: string };
