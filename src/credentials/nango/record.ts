/**
 * Writes down whose a connection at Nango is: under the lock of that account, and by nothing but what Nango itself says
 * of the connection while the lock is held. The newest wins; whatever it replaces is ended at Nango.
 */
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectAttempt } from '../../storage/ports/connect-attempts.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/ports/connections.ts';
import type { Storage } from '../../storage/storage.ts';
import { accountName } from '../oauth/id-token.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import { underLock } from '../under-lock.ts';
import type { Connection } from './answers.ts';
import type { NangoClient } from './client.ts';
import { NangoError, beingWorkedOn, toStoreError } from './failure.ts';
import { integrationOf, isFor, isOfAttempt, openLink, sealLink } from './link.ts';
import type { Link } from './link.ts';
import type { RemoveUnused } from './disconnect.ts';

/** The account of an attempt is there. */
export interface Connected {
  kind: 'connected';
  key: ConnectionKey;
  elicitationId: string | null;
  actor: string;
  version: number;
  account: string | null;
  /** Recorded just now, and not before. */
  isNew: boolean;
}

export type Confirmation =
  | Connected
  /** Nothing has come of it yet. */
  | { kind: 'nothing-yet' }
  /** Such an attempt is not known, or not any more. */
  | { kind: 'unknown-attempt' }
  /** The connection is not what came of this attempt: somebody else's, another integration's, an older one. */
  | { kind: 'not-of-this-attempt' };

export interface RecordParts {
  storage: Pick<Storage, 'connections' | 'connectAttempts'>;
  keys: KeyRing;
  client: NangoClient;
  removeUnused: RemoveUnused;
  installation: string;
}

/** `surplus`: a connection that nothing refers to any more. */
interface Recorded {
  confirmation: Confirmation;
  surplus?: { integration: string; connectionId: string };
}

/** Longer than one request to Nango may take. */
const lockWaitMs = 15_000;

export async function recordConnection(
  parts: RecordParts,
  attempt: ConnectAttempt,
  server: ServerConfig,
  connectionId: string,
): Promise<Confirmation> {
  try {
    const { confirmation, surplus } = await underLock(
      parts.storage.connections,
      { key: attempt, waitMs: lockWaitMs },
      () => recordUnderLock(parts, attempt, server, connectionId),
      () => {
        throw beingWorkedOn(server);
      },
    );
    if (surplus) await parts.removeUnused(surplus.integration, surplus.connectionId);
    return confirmation;
  } catch (error) {
    throw toStoreError(server, error);
  }
}

async function recordUnderLock(
  parts: RecordParts,
  attempt: ConnectAttempt,
  server: ServerConfig,
  connectionId: string,
): Promise<Recorded> {
  // Whoever disconnected meanwhile does not want what still comes of it.
  if (!(await parts.storage.connectAttempts.get(attempt.id)))
    return { confirmation: { kind: 'unknown-attempt' } };
  const { row, link } = await readStored(parts, attempt);
  const isRecorded = link?.connectionId === connectionId && link.attemptId === attempt.id;
  const read = await readBack(parts.client, server, connectionId);
  // What is recorded stays so while Nango cannot say more about it.
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
  const version = await establish(parts, attempt, server, { connection, before: link });
  const account = nameIn(connection);
  const { elicitationId, actor } = attempt;
  const key = keyOf(attempt);
  return {
    confirmation: { kind: 'connected', key, elicitationId, actor, version, account, isNew: true },
    ...(link && link.connectionId !== connectionId && { surplus: link }),
  };
}

/** The row of an account, and its link if it has one that can be read. */
export async function readStored({ storage, keys }: RecordParts, key: ConnectionKey) {
  const row = await storage.connections.get(key);
  const opened = openLink(keys, row);
  return { row, link: opened.kind === 'link' ? opened.link : null };
}

type ReadBack =
  | { kind: 'read'; connection: Connection }
  /** There is none, or another integration's. */
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
  { storage, keys }: RecordParts,
  attempt: ConnectAttempt,
  server: ServerConfig,
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

/** Of what is recorded already. */
export function confirmationOf(attempt: ConnectAttempt, row: ConnectionRow): Confirmation {
  if (row.status === 'broken') return { kind: 'nothing-yet' };
  const { version, account } = row;
  const { elicitationId, actor } = attempt;
  return { kind: 'connected', key: keyOf(attempt), elicitationId, actor, version, account, isNew: false };
}

function keyOf({ tenant, server, user }: ConnectAttempt) {
  return { tenant, server, user };
}

/** The same connection once more, in another window and as somebody else. */
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
