/**
 * Records to whom a connection at Nango belongs: under the lock of the account, and only by what Nango itself says while
 * the lock is held. The newest connection wins; the one that it replaces is ended at Nango.
 *
 * Also asks Nango whether attempts have succeeded, for when neither its page nor its webhook reported it.
 */
import type { ServerConfig } from '../../platform/config/config.ts';
import type { ConnectAttempt } from '../../storage/tables/connecting.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/schema/account-tables.ts';
import { accountName } from '../oauth/tokens.ts';
import { connectionKey, underLock } from '../connection-key.ts';
import type { Connection, Listed, NangoClient } from './client.ts';
import { accountIsLocked, NangoError, toStoreError } from './failure.ts';
import { integrationOf, isFor, isOfAttempt, openLink, sealLink, tagsOf } from './link.ts';
import type { Link } from './link.ts';
import type { NangoParts, Connected, ServerParts } from './parts.ts';

export type Confirmation =
  | Connected
  | { kind: 'nothing-yet' }
  /** The attempt is unknown or has expired. */
  | { kind: 'unknown-attempt' }
  /** The connection did not come of this attempt, but of another user, another integration, or an older attempt. */
  | { kind: 'not-of-this-attempt' };

/** `surplus`: a connection that nothing refers to any more. */
interface Recorded {
  confirmation: Confirmation;
  surplus?: { integration: string; connectionId: string };
}

const lockWaitMs = 15_000;

async function recordConnection(
  parts: ServerParts,
  attempt: ConnectAttempt,

  connectionId: string,
): Promise<Confirmation> {
  const { server } = parts;
  try {
    const { confirmation, surplus } = await underLock(
      parts.storage.connections,
      { key: attempt, waitMs: lockWaitMs },
      () => recordUnderLock(parts, attempt, connectionId),
      () => {
        throw accountIsLocked(server);
      },
    );
    if (surplus) await parts.removeUnused(surplus.integration, surplus.connectionId);
    return confirmation;
  } catch (error) {
    throw toStoreError(server, error);
  }
}

async function recordUnderLock(
  parts: ServerParts,
  attempt: ConnectAttempt,

  connectionId: string,
): Promise<Recorded> {
  const { server } = parts;
  // The user has disconnected meanwhile.
  if (!(await parts.storage.connectAttempts.get(attempt.id)))
    return { confirmation: { kind: 'unknown-attempt' } };
  const { row, link } = await readStored(parts, attempt);
  const isRecorded = link?.connectionId === connectionId && link.attemptId === attempt.id;
  const read = await readBack(parts.client, server, connectionId);
  // While Nango gives no answer, the recorded connection stays.
  if (read.kind === 'unknown') {
    if (!row || !isRecorded) throw read.error;
    return { confirmation: confirmationOf(attempt, row) };
  }
  if (read.kind === 'other' || !isOfAttempt(read.connection.tags, parts.installation, attempt.id))
    return { confirmation: { kind: 'not-of-this-attempt' } };

  const { connection } = read;
  if (row && isRecorded && (row.status === 'broken' || !isAnotherAccount(row, connection)))
    return { confirmation: confirmationOf(attempt, row) };
  if (row && link && isFor(link, server) && isOlder(connection, link)) {
    const { integration } = connection;
    return { confirmation: confirmationOf(attempt, row), surplus: { integration, connectionId } };
  }
  const version = await establish(parts, attempt, { connection, before: link });
  const account = nameIn(connection);
  const { elicitationId, actor } = attempt;
  const key = keyOf(attempt);
  return {
    confirmation: { kind: 'connected', key, elicitationId, actor, version, account, isNew: true },
    ...(link && link.connectionId !== connectionId && { surplus: link }),
  };
}

/** The row of an account, and its link if it can be opened. */
async function readStored({ storage, keys }: NangoParts, key: ConnectionKey) {
  const row = await storage.connections.get(key);
  const opened = openLink(keys, row);
  return { row, link: opened.kind === 'link' ? opened.link : null };
}

type ReadBack =
  | { kind: 'read'; connection: Connection }
  /** No connection, or one of another integration. */
  | { kind: 'other' }
  | { kind: 'unknown'; error: NangoError };

async function readBack(client: NangoClient, server: ServerConfig, connectionId: string): Promise<ReadBack> {
  const integration = integrationOf(server);
  try {
    const connection = await client.read(integration, connectionId);
    const isIt = connection.integration === integration && connection.connectionId === connectionId;
    return isIt ? { kind: 'read', connection } : { kind: 'other' };
  } catch (error) {
    if (!(error instanceof NangoError)) throw error;
    return error.failure.kind === 'missing' ? { kind: 'other' } : { kind: 'unknown', error };
  }
}

async function establish(
  { storage, keys, server }: ServerParts,
  attempt: ConnectAttempt,
  { connection, before }: { connection: Connection; before: Link | null },
): Promise<number> {
  const { integration, connectionId, createdAt, updatedAt, scopes } = connection;
  const isAgain = before?.connectionId === connectionId;
  const link: Link = {
    integration,
    connectionId,
    attemptId: attempt.id,
    since: isAgain ? updatedAt : createdAt,
    serverUrl: server.url,
  };
  return storage.connections.establish(keyOf(attempt), {
    store: 'nango',
    account: nameIn(connection),
    scopes: scopes ?? server.nango?.scopes ?? [],
    sealed: sealLink(keys, attempt, link),
    freshUntil: null,
  });
}

/** The confirmation for a connection that was recorded before. */
function confirmationOf(attempt: ConnectAttempt, row: ConnectionRow): Confirmation {
  if (row.status === 'broken') return { kind: 'nothing-yet' };
  const { version, account } = row;
  const { elicitationId, actor } = attempt;
  return { kind: 'connected', key: keyOf(attempt), elicitationId, actor, version, account, isNew: false };
}

function keyOf({ tenant, server, user }: ConnectAttempt) {
  return { tenant, server, user };
}

/** The same connection was connected again, as another account. */
function isAnotherAccount({ account }: ConnectionRow, connection: Connection): boolean {
  const name = nameIn(connection);
  return name !== null && account !== null && name !== account;
}

function isOlder({ connectionId, createdAt }: Connection, link: Link): boolean {
  return connectionId !== link.connectionId && createdAt <= link.since;
}

function nameIn({ idToken }: Connection): string | null {
  return accountName(idToken);
}

/** How many open attempts for one account are checked, newest first: the older ones were abandoned. */
const maxAttempts = 10;

interface Found {
  attempt: ConnectAttempt;
  listed: Listed;
}

/** See `NangoStore.confirm`. */
export async function confirm(
  parts: NangoParts,
  attemptId: string,
  connectionId: string,
): Promise<Confirmation> {
  const known = await findAttempt(parts, attemptId);
  return known
    ? recordConnection({ ...parts, server: known.server }, known.attempt, connectionId)
    : { kind: 'unknown-attempt' };
}

/** See `NangoStore.look`. */
export async function look(parts: NangoParts, attemptId: string): Promise<Confirmation> {
  const known = await findAttempt(parts, attemptId);
  if (!known) return { kind: 'unknown-attempt' };
  const { attempt, server } = known;
  const at = { ...parts, server };
  const connected = await recordNew(at, await list(at, [attempt]));
  const newest = connected.at(-1);
  if (newest) return newest;
  const { row, link } = await readStored(parts, attempt);
  return row && link?.attemptId === attemptId ? confirmationOf(attempt, row) : { kind: 'nothing-yet' };
}

/** See `CredentialStore.catchUp`. */
export async function catchUp(parts: ServerParts, owner: ConnectionKey): Promise<void> {
  const { server } = parts;
  const attempts = await parts.storage.connectAttempts.openOf(connectionKey(server, owner));
  if (attempts.length === 0) return;
  const found = await list(parts, attempts.slice(0, maxAttempts));
  // Neither a page nor a webhook has reported these, so they are confirmed here.
  for (const one of await recordNew(parts, found)) await parts.confirmFound(one);
}

async function findAttempt({ storage, servers }: NangoParts, attemptId: string) {
  const attempt = await storage.connectAttempts.get(attemptId);
  const server = servers.get(attempt?.server ?? '');
  return attempt && server?.store === 'nango' ? { attempt, server } : null;
}

/** The connections at Nango that came of the attempts, oldest first. */
async function list(
  { client, installation, server }: ServerParts,
  attempts: ConnectAttempt[],
): Promise<Found[]> {
  const integration = integrationOf(server);
  try {
    const lists = await Promise.all(
      attempts.map(async (attempt) => {
        const all = await client.list(integration, tagsOf(installation, attempt.id));
        const ours = all.filter(({ tags }) => isOfAttempt(tags, installation, attempt.id));
        return ours.map((listed) => ({ attempt, listed }));
      }),
    );
    return lists.flat().toSorted((one, other) => one.listed.createdAt - other.listed.createdAt);
  } catch (error) {
    throw toStoreError(server, error);
  }
}

/** Records new connections, oldest first, and deletes replaced ones at Nango. Returns the new ones, in this order. */
async function recordNew(parts: ServerParts, found: Found[]): Promise<Connected[]> {
  const { server } = parts;
  const connected: Connected[] = [];
  for (const { attempt, listed } of found) {
    const { connectionId, createdAt } = listed;
    const { link } = await readStored(parts, attempt);
    if (link?.connectionId === connectionId && link.attemptId === attempt.id) continue;
    const isReplaced =
      link && link.connectionId !== connectionId && createdAt <= link.since && isFor(link, server);
    if (isReplaced) await parts.removeUnused(link.integration, connectionId);
    else {
      const confirmation = await recordConnection(parts, attempt, connectionId);
      if (confirmation.kind === 'connected' && confirmation.isNew) connected.push(confirmation);
    }
  }
  return connected;
}
