/**
 * Asks Nango whether attempts to connect an account have succeeded, for when neither its page nor its webhook reported it.
 * Of two connections of one attempt, the newer one is kept.
 */
import type { Config, ServerConfig } from '../../config/config.ts';
import type { ConnectAttempt } from '../../storage/ports/connect-attempts.ts';
import type { ConnectionKey } from '../../storage/ports/connections.ts';
import { connectionKey } from '../connection-key.ts';
import type { Listed } from './answers.ts';
import { toStoreError } from './failure.ts';
import { integrationOf, isFor, isOfAttempt, tagsOf } from './link.ts';
import { confirmationOf, readStored, recordConnection } from './record.ts';
import type { Confirmation, Connected, RecordParts } from './record.ts';

interface AttemptParts extends RecordParts {
  servers: Config['servers'];
  confirmFound: ConfirmFound;
}

/** Called once for every account that is found here first. */
export type ConfirmFound = (found: Connected) => Promise<void>;

/** How many open attempts at one account are looked at, newest first: a person who began more has given up the older ones. */
const mostAttempts = 10;

interface Found {
  attempt: ConnectAttempt;
  listed: Listed;
}

/** See `NangoStore.confirm`. */
export async function confirm(
  parts: AttemptParts,
  attemptId: string,
  connectionId: string,
): Promise<Confirmation> {
  const known = await findAttempt(parts, attemptId);
  return known
    ? recordConnection(parts, known.attempt, known.server, connectionId)
    : { kind: 'unknown-attempt' };
}

/** See `NangoStore.look`. */
export async function look(parts: AttemptParts, attemptId: string): Promise<Confirmation> {
  const known = await findAttempt(parts, attemptId);
  if (!known) return { kind: 'unknown-attempt' };
  const { attempt, server } = known;
  const connected = await recordNew(parts, server, await list(parts, server, [attempt]));
  const newest = connected.at(-1);
  if (newest) return newest;
  const { row, link } = await readStored(parts, attempt);
  return row && link?.attemptId === attemptId ? confirmationOf(attempt, row) : { kind: 'nothing-yet' };
}

/** See `CredentialStore.catchUp`. */
export async function catchUp(
  parts: AttemptParts,
  server: ServerConfig,
  owner: ConnectionKey,
): Promise<void> {
  const attempts = await parts.storage.connectAttempts.openOf(connectionKey(server, owner));
  if (attempts.length === 0) return;
  const found = await list(parts, server, attempts.slice(0, mostAttempts));
  // No page and no webhook has reported these, so nobody else confirms them.
  for (const one of await recordNew(parts, server, found)) await parts.confirmFound(one);
}

async function findAttempt({ storage, servers }: AttemptParts, attemptId: string) {
  const attempt = await storage.connectAttempts.get(attemptId);
  const server = servers.get(attempt?.server ?? '');
  return attempt && server?.store === 'nango' ? { attempt, server } : null;
}

/** The connections at Nango that came of the attempts, oldest first. */
async function list(
  { client, installation }: AttemptParts,
  server: ServerConfig,
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
async function recordNew(parts: AttemptParts, server: ServerConfig, found: Found[]): Promise<Connected[]> {
  const connected: Connected[] = [];
  for (const { attempt, listed } of found) {
    const { connectionId, createdAt } = listed;
    const { link } = await readStored(parts, attempt);
    if (link?.connectionId === connectionId && link.attemptId === attempt.id) continue;
    const isReplaced =
      link && link.connectionId !== connectionId && createdAt <= link.since && isFor(link, server);
    if (isReplaced) await parts.removeUnused(link.integration, connectionId);
    else {
      const confirmation = await recordConnection(parts, attempt, server, connectionId);
      if (confirmation.kind === 'connected' && confirmation.isNew) connected.push(confirmation);
    }
  }
  return connected;
}
