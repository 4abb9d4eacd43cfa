/** What we keep of an account at Nango, sealed: which connection it is, and what it may be used for. */
import { z } from 'zod';
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/storage.ts';
import { SealingError } from '../sealing/key-ring.ts';
import type { KeyRing } from '../sealing/key-ring.ts';

const linkSchema = z.object({
  integration: z.string(),
  connectionId: z.string(),
  /** What it came of. Connecting again keeps the id of the connection, but not this. */
  attemptId: z.string(),
  /** When it was connected, by Nango's clock; epoch milliseconds. */
  since: z.number(),
  /** Where its token may go, and nowhere else. */
  serverUrl: z.string(),
});
export type Link = z.infer<typeof linkSchema>;

export type OpenedLink =
  | { kind: 'link'; link: Link }
  /** Another store's, or nothing. */
  | { kind: 'none' }
  | { kind: 'unreadable'; why: string };

export function sealLink(keys: KeyRing, key: ConnectionKey, link: Link): string {
  return keys.seal(JSON.stringify(link), linkContext(key));
}

export function openLink(keys: KeyRing, row: ConnectionRow | null): OpenedLink {
  if (row?.store !== 'nango') return { kind: 'none' };
  try {
    return { kind: 'link', link: linkSchema.parse(JSON.parse(keys.open(row.sealed, linkContext(row)))) };
  } catch (error) {
    const why = error instanceof SealingError ? error.message : 'has an unknown form';
    return { kind: 'unreadable', why };
  }
}

/** A list, so that no tenant or user name can be made to look like another pair. */
export function linkContext({ tenant, server, user }: ConnectionKey): string {
  return JSON.stringify(['nango', tenant, server, user]);
}

/** Whether this is what the configuration asks for by now: a token is only sent where it was connected for. */
export function isFor({ integration, serverUrl }: Link, server: ServerConfig): boolean {
  return serverUrl === server.url && integration === server.nango?.integration;
}
