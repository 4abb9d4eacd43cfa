/** A token for one call, or why a person is needed. A Nango that is away is no reason to ask anybody anything. */
import type { Logger } from 'pino';
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionReason } from '../../elicitation/elicitation.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/ports/connections.ts';
import type { Storage } from '../../storage/storage.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import { requireOwner } from '../connection-key.ts';
import { bearerCredential } from '../oauth/access-token.ts';
import { connectionRequired, noCredential } from '../resolution.ts';
import type { Resolution } from '../resolution.ts';
import { CredentialStoreError } from '../store-error.ts';
import type { ConnectionRequired, CredentialStore } from '../store.ts';
import { NangoError, inWords, notRenewed, renewalPauseMs } from './failure.ts';
import { isFor, openLink } from './link.ts';
import type { Link } from './link.ts';
import { NoTokenError } from './tokens.ts';
import type { Tokens } from './tokens.ts';

/** A connection that may be used as far as we know. */
export interface Usable {
  kind: 'usable';
  row: ConnectionRow;
  link: Link;
}

export interface ResolverParts {
  storage: Pick<Storage, 'connections'>;
  keys: KeyRing;
  tokens: Tokens;
  catchUp: NonNullable<CredentialStore['catchUp']>;
  logger: Logger;
  now: () => number;
}

/** So long after a refused renewal another refusal is the same trouble; later it is a new one, which may pass. */
const sameTroubleMs = 600_000;

export async function resolve(
  parts: ResolverParts,
  server: ServerConfig,
  owner: ConnectionKey,
): Promise<Resolution> {
  if (server.credentialScope === 'none') return noCredential;
  const key = requireOwner(server, owner);
  const recorded = await findUsable(parts, server, key);
  if (recorded.kind === 'usable') return use(parts, server, recorded);
  // Somebody may have connected it without our being told.
  await parts.catchUp(server, key);
  const found = await findUsable(parts, server, key);
  return found.kind === 'usable' ? use(parts, server, found) : found;
}

/** What is recorded, whatever Nango would say. */
export async function findUsable(
  { storage: { connections }, keys }: ResolverParts,
  server: ServerConfig,
  key: ConnectionKey,
): Promise<Usable | ConnectionRequired> {
  const configured = server.nango?.scopes ?? [];
  const row = await connections.get(key);
  // Of a removed connection: a late announcement of it must not settle the question that is asked now.
  if (!row) return required('missing', await connections.lastVersion(key), configured);
  const opened = openLink(keys, row);
  if (opened.kind === 'unreadable')
    throw new CredentialStoreError(`The stored account of ${server.title} cannot be opened (${opened.why}).`);
  // Whatever another store keeps, or was connected for another address, must not be sent to this one.
  if (opened.kind === 'none' || !isFor(opened.link, server))
    return required('missing', row.version, configured);
  if (row.status === 'broken') return required(row.brokenReason ?? 'rejected', row.version, row.scopes);
  return { kind: 'usable', row, link: opened.link };
}

async function use(parts: ResolverParts, server: ServerConfig, usable: Usable): Promise<Resolution> {
  const { tokens } = parts;
  const { row, link } = usable;
  const of = { link, version: row.version };
  const held = tokens.held(of);
  if (held && parts.now() < held.freshUntil) return bearerCredential(held.accessToken, row.version);
  try {
    const token = await tokens.read(of);
    await recovered(parts, row);
    return bearerCredential(token.accessToken, row.version);
  } catch (error) {
    // What Nango says of the connection counts; that it says nothing does not, while the token lasts.
    const isSilent = error instanceof NangoError && error.failure.kind !== 'missing';
    if (held && isSilent) return bearerCredential(held.accessToken, row.version);
    return afterFailure(parts, server, usable, error);
  }
}

/** What a failed reading means for whoever needs the account. */
export async function afterFailure(
  parts: ResolverParts,
  server: ServerConfig,
  { row, link }: Usable,
  error: unknown,
): Promise<Resolution> {
  if (error instanceof NoTokenError) {
    const { integration } = link;
    parts.logger.error(
      { integration },
      'Nango gives no token; look at what our key may do and at the integration',
    );
    throw new CredentialStoreError(
      `Nango has no token of the account of ${server.title} for us; an operator has to look at its settings.`,
    );
  }
  if (!(error instanceof NangoError)) throw error;
  const { failure } = error;
  switch (failure.kind) {
    case 'missing':
      return required('missing', row.version, row.scopes);
    case 'not-renewed':
      return whenNotRenewed(parts, server, row);
    case 'away':
    case 'busy':
    case 'misconfigured':
      throw inWords(server, failure);
    default:
      return failure satisfies never;
  }
}

/** The provider may be away for a moment, or may have said no for good: Nango's answers are the same. */
async function whenNotRenewed(
  parts: ResolverParts,
  server: ServerConfig,
  row: ConnectionRow,
): Promise<ConnectionRequired> {
  const now = parts.now();
  const age = row.troubledAt === null ? Infinity : now - row.troubledAt;
  if (age >= sameTroubleMs) {
    await parts.storage.connections.markTroubled(row, row.version, now);
    throw notRenewed(server, renewalPauseMs);
  }
  const left = renewalPauseMs - 1_000 - age;
  if (left > 0) throw notRenewed(server, left + 1_000);
  return broken(parts, row, 'revoked');
}

export async function recovered({ storage }: ResolverParts, row: ConnectionRow): Promise<void> {
  if (row.troubledAt !== null) await storage.connections.markTroubled(row, row.version, null);
}

export async function broken(
  { storage }: ResolverParts,
  row: ConnectionRow,
  reason: ConnectionReason,
): Promise<ConnectionRequired> {
  await storage.connections.markBroken(row, row.version, reason);
  return required(reason, row.version, row.scopes);
}

/** How long access lasts is no news to the person who is asked. */
export function required(
  reason: ConnectionReason,
  seenVersion: number,
  scopes: string[],
): ConnectionRequired {
  return connectionRequired(
    reason,
    seenVersion,
    scopes.filter((scope) => scope !== 'offline_access'),
  );
}
