/**
 * A token for one call, or why a person has to act; and what follows when a server has refused a token. If Nango is down,
 * no person is asked.
 */
import type { ConnectionReason } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/schema/account-tables.ts';
import { requireOwner, underLock } from '../connection-key.ts';
import { bearerCredential } from '../oauth/tokens.ts';
import {
  afterDoubtfulRefusal,
  connectionRequired,
  CredentialStoreError,
  noCredential,
} from '../credential-store.ts';
import type { ConnectionRequired, Credential, Refusal, Resolution, Unrelated } from '../credential-store.ts';
import { accountIsLocked, inWords, NangoError, notRenewed, renewalPauseMs } from './failure.ts';
import { isFor, openLink } from './link.ts';
import type { Link } from './link.ts';
import { NoTokenError } from './tokens.ts';
import { catchUp } from './record.ts';
import type { Token } from './tokens.ts';
import type { NangoParts, ServerParts } from './parts.ts';
import { requestedScopes } from '@interlude-ai/core/oauth/scopes.ts';

interface Usable {
  kind: 'usable';
  row: ConnectionRow;
  link: Link;
}

/**
 * Within this time after a refused renewal, another refusal is the same problem; later it is a new one, which may be
 * temporary.
 */
const sameTroubleMs = 600_000;

export async function resolve(
  parts: ServerParts,

  owner: ConnectionKey,
): Promise<Resolution> {
  const { server } = parts;
  if (server.credentialScope === 'none') return noCredential;
  const key = requireOwner(server, owner);
  const recorded = await findUsable(parts, key);
  if (recorded.kind === 'usable') return use(parts, recorded);
  // A connection may not have been reported.
  await catchUp(parts, key);
  const found = await findUsable(parts, key);
  return found.kind === 'usable' ? use(parts, found) : found;
}

/** The recorded connection, without asking Nango. */
async function findUsable(
  { storage: { connections }, keys, server }: ServerParts,
  key: ConnectionKey,
): Promise<Usable | ConnectionRequired> {
  const configured = server.nango?.scopes ?? [];
  const row = await connections.get(key);
  // The version of a removed connection: a late signal about it must not settle the new question.
  if (!row) return required('missing', await connections.lastVersion(key), configured);
  const opened = openLink(keys, row);
  if (opened.kind === 'unreadable')
    throw new CredentialStoreError({ code: 'nango_sealed', server: server.title, why: opened.why });
  // An account of another store, or for another address, must not be sent to this one.
  if (opened.kind === 'none' || !isFor(opened.link, server))
    return required('missing', row.version, configured);
  if (row.status === 'broken') return required(row.brokenReason ?? 'rejected', row.version, row.scopes);
  return { kind: 'usable', row, link: opened.link };
}

async function use(parts: ServerParts, usable: Usable): Promise<Resolution> {
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
    // An answer about the connection counts. If there is none, a token that is still valid is used.
    const isSilent = error instanceof NangoError && error.failure.kind !== 'missing';
    if (held && isSilent) return bearerCredential(held.accessToken, row.version);
    return afterFailure(parts, usable, error);
  }
}

/** What a failed read means for the call that needs the account. */
async function afterFailure(
  parts: ServerParts,

  { row, link }: Usable,
  error: unknown,
): Promise<Resolution> {
  const { server } = parts;
  if (error instanceof NoTokenError) {
    const { integration } = link;
    parts.logger.error(
      { integration },
      'Nango gives no token; look at what our key may do and at the integration',
    );
    throw new CredentialStoreError({ code: 'nango_no_token', server: server.title });
  }
  if (!(error instanceof NangoError)) throw error;
  const { failure } = error;
  switch (failure.kind) {
    case 'missing':
      return required('missing', row.version, row.scopes);
    case 'not-renewed':
      return whenNotRenewed(parts, row);
    case 'away':
    case 'busy':
    case 'misconfigured':
      throw inWords(server, failure);
    default:
      return failure satisfies never;
  }
}

/** The provider may be down or may have refused: Nango's answers are the same. */
async function whenNotRenewed(
  parts: ServerParts,

  row: ConnectionRow,
): Promise<ConnectionRequired> {
  const { server } = parts;
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

async function recovered({ storage }: NangoParts, row: ConnectionRow): Promise<void> {
  if (row.troubledAt !== null) await storage.connections.markTroubled(row, row.version, null);
}

async function broken(
  { storage }: NangoParts,
  row: ConnectionRow,
  reason: ConnectionReason,
): Promise<ConnectionRequired> {
  await storage.connections.markBroken(row, row.version, reason);
  return required(reason, row.version, row.scopes);
}

/** `offline_access` is not shown to people. */
function required(reason: ConnectionReason, seenVersion: number, scopes: string[]): ConnectionRequired {
  return connectionRequired(
    reason,
    seenVersion,
    scopes.filter((scope) => scope !== 'offline_access'),
  );
}

/** A token of a younger account would be refused again after a renewal. */
const tooYoungToRenewMs = 30_000;
const lockWaitMs = 15_000;

export async function reject(
  parts: ServerParts,

  owner: ConnectionKey,
  refusal: Refusal,
): Promise<Resolution | Unrelated> {
  const { server } = parts;
  if (server.credentialScope === 'none') return required('rejected', refusal.version, []);
  const key = requireOwner(server, owner);
  const found = await findUsable(parts, key);
  // The connection has changed since: resolve it again.
  if (found.kind !== 'usable' || found.row.version !== refusal.version) return resolve(parts, owner);
  if (refusal.status === 403) return forbidden(found.row, refusal);
  const held = parts.tokens.held(ofUsable(found));
  if (held && held.id !== refusal.tokenId) return credentialOf(held, found.row);
  // Only once, however many calls and processes were refused the same token.
  return underLock(
    parts.storage.connections,
    { key, waitMs: lockWaitMs },
    () => replaceToken(parts, key, refusal),
    () => {
      throw accountIsLocked(server);
    },
  );
}

async function replaceToken(
  parts: ServerParts,

  key: ConnectionKey,
  refusal: Refusal,
): Promise<Resolution | Unrelated> {
  const found = await findUsable(parts, key);
  if (found.kind !== 'usable') return found;
  if (found.row.version === refusal.version) return unauthorized(parts, found, refusal);
  return credentialOf(await parts.tokens.read(ofUsable(found)), found.row);
}

async function unauthorized(
  parts: ServerParts,

  usable: Usable,
  refusal: Refusal,
): Promise<Resolution | Unrelated> {
  const { tokens } = parts;
  const { tokenId } = refusal;
  const of = ofUsable(usable);
  const { row } = usable;
  const held = tokens.held(of);
  if (held && held.id !== tokenId) return credentialOf(held, row);
  tokens.forget(of);
  try {
    const current = await tokens.read(of);
    if (current.id !== tokenId) return await renewedTo(parts, current, row);
    if (parts.now() - row.updatedAt < tooYoungToRenewMs) return await refused(parts, usable, refusal);
    const renewed = await tokens.read(of, { renew: true });
    if (renewed.id !== tokenId) return await renewedTo(parts, renewed, row);
  } catch (error) {
    if (!(error instanceof NangoError) || !isFinal(error)) return afterFailure(parts, usable, error);
  }
  tokens.forget(of);
  return refused(parts, usable, refusal);
}

/** A single refused call does not mark a shared account as broken. */
async function refused(
  parts: NangoParts,
  { row, link }: Usable,
  { isDoubtful }: Refusal,
): Promise<Resolution | Unrelated> {
  if (isDoubtful) return afterDoubtfulRefusal(row, { connectedAt: link.since, now: parts.now() });
  return row.user === null ? required('rejected', row.version, row.scopes) : broken(parts, row, 'rejected');
}

async function renewedTo(parts: NangoParts, token: Token, row: ConnectionRow): Promise<Resolution> {
  await recovered(parts, row);
  return credentialOf(token, row);
}

/** No other token is available. A key of ours that may not renew tokens was logged where Nango refused it. */
function isFinal({ failure }: NangoError): boolean {
  return failure.kind === 'not-renewed' || (failure.kind === 'misconfigured' && failure.status === 403);
}

/** The account stays active for what it may do. */
function forbidden(row: ConnectionRow, { challenge }: Refusal): ConnectionRequired {
  const asked = requestedScopes(challenge);
  const missing = asked?.filter((one) => !row.scopes.includes(one)) ?? [];
  // All of these scopes are held already, so asking for them would not help.
  if (asked === null || (asked.length > 0 && missing.length === 0))
    return required('rejected', row.version, row.scopes);
  return required('insufficient_scope', row.version, missing);
}

function credentialOf({ accessToken }: Token, { version }: ConnectionRow): Credential {
  return bearerCredential(accessToken, version);
}

function ofUsable({ link, row }: Usable) {
  return { link, version: row.version };
}
