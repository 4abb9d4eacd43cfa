/**
 * Which connection at Nango belongs to whom. Here: a link, sealed in the row of the account. At Nango: tags that name the
 * installation and the attempt. Both are random ids, so that no users or tenants can be read there.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { ServerConfig } from '../../platform/config/config.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/schema/account-tables.ts';
import { brokenStatus } from '../credential-store.ts';
import type { AccountStatus } from '../credential-store.ts';
import { SealingError } from '../sealing/key-ring.ts';
import type { KeyRing } from '../sealing/key-ring.ts';

const linkSchema = z.object({
  integration: z.string(),
  connectionId: z.string(),
  /** The attempt that it came of. Connecting again keeps the id of the connection, but changes this. */
  attemptId: z.string(),
  /** When it was connected, by Nango's clock, in epoch milliseconds. */
  since: z.number(),
  /** The only address that its token may be sent to. */
  serverUrl: z.string(),
});
export type Link = z.infer<typeof linkSchema>;

type OpenedLink =
  | { kind: 'link'; link: Link }
  /** There is no row, or it belongs to another store. */
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

/** As a JSON list, no two keys can give the same context. */
export function linkContext({ tenant, server, user }: ConnectionKey): string {
  return JSON.stringify(['nango', tenant, server, user]);
}

/** Whether it still matches the configuration: a token is only sent to the address that it was connected for. */
export function isFor({ integration, serverUrl }: Link, server: ServerConfig): boolean {
  return serverUrl === server.url && integration === server.nango?.integration;
}

/** The status of a stored connection, without asking Nango. */
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

/** The attempt in the tags, which may be of another installation; null when there is none. */
export function attemptIn(tags: Tags): string | null {
  return tags[attemptTag] ?? null;
}

export function isOfInstallation(tags: Tags, installation: string): boolean {
  return tags[installationTag] === installation;
}

export function isOfAttempt(tags: Tags, installation: string, attemptId: string): boolean {
  return isOfInstallation(tags, installation) && tags[attemptTag] === attemptId;
}
