/** Ends connections: those that a person disconnects, those of unknown attempts, and those that nothing refers to. */
import type { Logger } from 'pino';
import type { ServerConfig } from '../../platform/config/config.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/schema/account-tables.ts';
import type { Disconnected, Revocation } from '../credential-store.ts';
import { underLock } from '../connection-key.ts';
import type { NangoClient } from './client.ts';
import { NangoError, inWords, toStoreError } from './failure.ts';
import { attemptIn, isOfInstallation, openLink } from './link.ts';
import type { Link } from './link.ts';
import type { NangoParts, RemoveUnused } from './parts.ts';

/**
 * Longer than it takes until a connection is reported, and much shorter than an attempt is stored after it could last bring
 * a connection. An older connection may be in use although its attempt was deleted.
 */
const newMs = 3_600_000;

export async function disconnect(
  parts: NangoParts,
  key: ConnectionKey,
  server: ServerConfig | undefined,
): Promise<Disconnected> {
  const row = await removeRow(parts, key);
  if (!row) return { kind: 'nothing-there' };
  const opened = openLink(parts.keys, row);
  if (opened.kind === 'none') return { kind: 'removed', revocation: { kind: 'not-offered' } };
  if (opened.kind === 'unreadable') {
    const reason = `the stored account cannot be opened (${opened.why})`;
    return { kind: 'removed', revocation: { kind: 'failed', reason } };
  }
  const { link } = opened;
  parts.tokens.forget({ link, version: row.version });
  const revocation = await end(parts.client, link, server?.title ?? key.server);
  return { kind: 'removed', revocation };
}

/**
 * After a connection that is being recorded, and together with all open attempts; but it does not wait for a hanging
 * request.
 */
async function removeRow(
  { storage: { connections, connectAttempts }, disconnectWaitMs }: NangoParts,
  key: ConnectionKey,
): Promise<ConnectionRow | null> {
  const forget = async () => {
    await connectAttempts.dropOf(key);
    return connections.remove(key);
  };
  return underLock(connections, { key, waitMs: disconnectWaitMs }, forget, forget);
}

/** Nango deletes the account, but does not revoke its tokens at the provider. */
async function end(
  client: NangoClient,
  { integration, connectionId }: Link,
  title: string,
): Promise<Revocation> {
  try {
    await client.remove(integration, connectionId);
    return { kind: 'not-offered' };
  } catch (error) {
    if (!(error instanceof NangoError)) throw error;
    const { failure } = error;
    if (failure.kind === 'missing') return { kind: 'not-offered' };
    return { kind: 'failed', reason: inWords({ title }, failure).message };
  }
}

/** Ends a connection that belongs to no known attempt, if it is one of ours. */
export async function discard(
  { storage, client, removeUnused, installation, now }: NangoParts,
  integration: string,
  connectionId: string,
): Promise<void> {
  try {
    const { tags, createdAt } = await client.read(integration, connectionId);
    const attemptId = attemptIn(tags);
    // A shared environment also contains connections of other installations.
    if (attemptId === null || !isOfInstallation(tags, installation)) return;
    if (Math.abs(now() - createdAt) > newMs) return;
    if (await storage.connectAttempts.get(attemptId)) return;
  } catch (error) {
    if (error instanceof NangoError && error.failure.kind === 'missing') return;
    throw toStoreError({ title: integration }, error);
  }
  await removeUnused(integration, connectionId);
}

const maxRemembered = 1_000;

export function createRemoveUnused({
  client,
  logger,
}: {
  client: NangoClient;
  logger: Logger;
}): RemoveUnused {
  const inVain = new Set<string>();

  return async (integration, connectionId) => {
    const name = JSON.stringify([integration, connectionId]);
    if (inVain.has(name)) return;
    try {
      await client.remove(integration, connectionId);
      logger.info({ integration }, 'a connection at Nango that nothing refers to was ended');
    } catch (error) {
      if (!(error instanceof NangoError)) throw error;
      if (error.failure.kind === 'missing') return;
      if (inVain.size >= maxRemembered) inVain.clear();
      inVain.add(name);
      logger.warn(
        { integration, reason: error.failure.kind },
        'a connection at Nango that nothing refers to could not be ended',
      );
    }
  };
}
