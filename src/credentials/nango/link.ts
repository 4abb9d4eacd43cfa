/**
 * Which connection at Nango is whose. Here: a link, sealed in the row of the account. There: tags, by which alone our
 * connections are recognised, saying which installation began it and in which attempt; both are random to whoever reads
 * them there, and people, their names and our tenants are not in them.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/ports/connections.ts';
import { brokenStatus } from '../resolution.ts';
import { SealingError } from '../sealing/key-ring.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { AccountStatus } from '../store.ts';

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

/** What a stored connection is worth, without asking Nango. */
export function accountStatusOf(
  keys: KeyRing,
  row: ConnectionRow,
  server: ServerConfig | undefined,
): AccountStatus {
  const opened = openLink(keys, row);
  if (opened.kind === 'unreadable') return { host: null, status: 'broken', reason: 'unreadable' };
  if (opened.kind === 'none') return { host: null, status: 'broken', reason: 'server_changed' };
  const { host } = new URL(opened.link.serverUrl);
  if (!server || !isFor(opened.link, server)) return { host, status: 'broken', reason: 'server_changed' };
  return row.status === 'active' ? { host, status: 'active' } : brokenStatus(row, host);
}

export function integrationOf({ name, nango }: ServerConfig): string {
  if (!nango) throw new Error(`servers.${name} names no integration of Nango`);
  return nango.integration;
}

export type Tags = Record<string, string>;

const installationTag = 'interlude_installation';
const attemptTag = 'interlude_attempt';

/** Several installations may share an environment of Nango; each has its own address. */
export function installationOf(publicUrl: string): string {
  return hash('sha256', `installation ${publicUrl}`, 'base64url').slice(0, 22);
}

export function tagsOf(installation: string, attemptId: string): Tags {
  return { [installationTag]: installation, [attemptTag]: attemptId };
}

/** The attempt that these tags name, also somebody else's; null when there is none. */
export function attemptIn(tags: Tags): string | null {
  return tags[attemptTag] ?? null;
}

export function isOfInstallation(tags: Tags, installation: string): boolean {
  return tags[installationTag] === installation;
}

export function isOfAttempt(tags: Tags, installation: string, attemptId: string): boolean {
  return isOfInstallation(tags, installation) && tags[attemptTag] === attemptId;
}
