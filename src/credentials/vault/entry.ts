/** What a connection keeps sealed, and the headers it becomes. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/storage.ts';
import { SealingError } from '../sealing/key-ring.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { Credential } from '../store.ts';

const entrySchema = z.object({
  apiKey: z.string(),
  /** Where the key may go, and nowhere else. */
  serverUrl: z.string(),
});
export type Entry = z.infer<typeof entrySchema>;

export type Opened = { kind: 'entry'; entry: Entry } | { kind: 'unreadable'; why: string };

export function sealEntry(keys: KeyRing, key: ConnectionKey, entry: Entry): string {
  return keys.seal(JSON.stringify(entry), apiKeyContext(key));
}

export function openEntry(keys: KeyRing, row: ConnectionRow): Opened {
  try {
    return { kind: 'entry', entry: entrySchema.parse(JSON.parse(keys.open(row.sealed, apiKeyContext(row)))) };
  } catch (error) {
    return {
      kind: 'unreadable',
      why: error instanceof SealingError ? error.message : 'has an unknown form',
    };
  }
}

/** A list, so that no tenant or user name can be made to look like another pair. */
export function apiKeyContext({ tenant, server, user }: ConnectionKey): string {
  return JSON.stringify(['api-key', tenant, server, user]);
}

/** As the configuration says by now: whoever corrects it there makes nobody enter their key again. */
export function credentialOf(server: ServerConfig, apiKey: string, version: number): Credential {
  const scheme = schemeOf(server);
  return {
    kind: 'credential',
    headers: { [headerOf(server)]: scheme === '' ? apiKey : `${scheme} ${apiKey}` },
    version,
    tokenId: createHash('sha256').update(apiKey).digest('base64url').slice(0, 16),
  };
}

export function headerOf({ vault }: ServerConfig): string {
  return vault?.header ?? 'authorization';
}

function schemeOf(server: ServerConfig): string {
  return server.vault?.scheme ?? (headerOf(server).toLowerCase() === 'authorization' ? 'Bearer' : '');
}
