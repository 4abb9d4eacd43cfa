/** An API key: as a person enters it, as a connection keeps it sealed, and the header it becomes. */
import { z } from 'zod';
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/ports/connections.ts';
import { fitsInHeader, tokenIdOf } from '../resolution.ts';
import { SealingError } from '../sealing/key-ring.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { Credential } from '../store.ts';

/** `message` is a sentence for people. */
export interface Malformed {
  kind: 'malformed';
  message: string;
}

const longestKey = 4_096;

/** Only what every server reads alike in a header. The message never repeats what was entered. */
export function readKey(entered: string): { kind: 'key'; apiKey: string } | Malformed {
  const apiKey = entered.trim();
  const problem = problemOf(apiKey);
  return problem === null ? { kind: 'key', apiKey } : { kind: 'malformed', message: problem };
}

function problemOf(apiKey: string): string | null {
  if (apiKey === '') return 'Enter the key.';
  if (apiKey.length > longestKey)
    return `This is too long for a key: it has ${apiKey.length} characters, and ${longestKey} are the most.`;
  if (/\s/.test(apiKey))
    return 'There is a space or a line break in this key. Enter the key alone, without a word like “Bearer” before it.';
  if (!fitsInHeader(apiKey))
    return 'There is a character in this key that keys do not have. Copy it once more, and nothing around it.';
  return null;
}

/** Of a shorter key, the last characters would say too much. */
const longEnoughToQuote = 24;

/** By which its owner recognises it among theirs. */
export function accountOf(apiKey: string): string | null {
  return apiKey.length < longEnoughToQuote ? null : `key ending in …${apiKey.slice(-4)}`;
}

const keptKeySchema = z.object({
  apiKey: z.string(),
  /** Where the key may go, and nowhere else. */
  serverUrl: z.string(),
});
type KeptKey = z.infer<typeof keptKeySchema>;

export function sealKey(keys: KeyRing, key: ConnectionKey, kept: KeptKey): string {
  return keys.seal(JSON.stringify(kept), apiKeyContext(key));
}

export function openKey(
  keys: KeyRing,
  row: ConnectionRow,
): { kind: 'key'; kept: KeptKey } | { kind: 'unreadable'; why: string } {
  try {
    return { kind: 'key', kept: keptKeySchema.parse(JSON.parse(keys.open(row.sealed, apiKeyContext(row)))) };
  } catch (error) {
    const why = error instanceof SealingError ? error.message : 'has an unknown form';
    return { kind: 'unreadable', why };
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
    tokenId: tokenIdOf(apiKey),
  };
}

export function headerOf({ vault }: ServerConfig): string {
  return vault?.header ?? 'authorization';
}

function schemeOf(server: ServerConfig): string {
  return server.vault?.scheme ?? (headerOf(server).toLowerCase() === 'authorization' ? 'Bearer' : '');
}
