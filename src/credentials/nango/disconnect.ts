/** The end of connections: of one that a person does not want any more, of one that nobody knows, of one that nothing refers to. */
import type { Logger } from 'pino';
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/ports/connections.ts';
import type { Storage } from '../../storage/storage.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { Disconnected, Revocation } from '../store.ts';
import { underLock } from '../under-lock.ts';
import type { NangoClient } from './client.ts';
import { NangoError, inWords, toStoreError } from './failure.ts';
import { attemptIn, isOfInstallation, openLink } from './link.ts';
import type { Link } from './link.ts';
import type { Tokens } from './tokens.ts';

interface Dependencies {
  storage: Pick<Storage, 'connections' | 'connectAttempts'>;
  keys: KeyRing;
  client: NangoClient;
  tokens: Tokens;
  removeUnused: RemoveUnused;
  installation: string;
  lockWaitMs: number;
  now: () => number;
}

/**
 * Longer than it takes until a connection is announced, and much shorter than an attempt is remembered after the last moment in
 * which something can come of it: a connection that is older may be in use though its attempt is forgotten.
 */
const newMs = 3_600_000;

export function createDisconnect(parts: Dependencies) {
  return {
    disconnect: (key: ConnectionKey, server: ServerConfig | undefined) => disconnect(parts, key, server),
    discard: (integration: string, connectionId: string) => discard(parts, integration, connectionId),
  };
}

async function disconnect(
  parts: Dependencies,
  key: ConnectionKey,
  server: ServerConfig | undefined,
): Promise<Disconnected> {
  const row = await takeAway(parts, key);
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

/** After whatever is being recorded, and with all that could still be; but one that hangs keeps nobody. */
async function takeAway(
  { storage: { connections, connectAttempts }, lockWaitMs }: Dependencies,
  key: ConnectionKey,
): Promise<ConnectionRow | null> {
  const forget = async () => {
    await connectAttempts.dropOf(key);
    return connections.remove(key);
  };
  return underLock(connections, { key, waitMs: lockWaitMs }, forget, forget);
}

/** Nango forgets the account. It tells no provider so. */
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

async function discard(
  { storage, client, removeUnused, installation, now }: Dependencies,
  integration: string,
  connectionId: string,
): Promise<void> {
  try {
    const { tags, createdAt } = await client.read(integration, connectionId);
    const attemptId = attemptIn(tags);
    // In a shared environment there are connections of others, and of people who never heard of us.
    if (attemptId === null || !isOfInstallation(tags, installation)) return;
    if (Math.abs(now() - createdAt) > newMs) return;
    if (await storage.connectAttempts.get(attemptId)) return;
  } catch (error) {
    if (error instanceof NangoError && error.failure.kind === 'missing') return;
    throw toStoreError({ title: integration }, error);
  }
  await removeUnused(integration, connectionId);
}

/** Ends a connection at Nango that nothing here refers to. A courtesy: what fails is left there, and not tried for ever. Never throws. */
export type RemoveUnused = (integration: string, connectionId: string) => Promise<void>;

const mostRemembered = 1_000;

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
      if (inVain.size >= mostRemembered) inVain.clear();
      inVain.add(name);
      logger.warn(
        { integration, reason: error.failure.kind },
        'a connection at Nango that nothing refers to could not be ended',
      );
    }
  };
}
