/** The end of connections: of one that a person does not want any more, and of one that nobody knows. */
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionKey, ConnectionRow, Storage } from '../../storage/storage.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { Disconnected, Revocation } from '../store.ts';
import { underLock } from '../under-lock.ts';
import type { NangoClient } from './client.ts';
import { NangoError, inWords, toStoreError } from './failure.ts';
import { openLink } from './link.ts';
import type { Remove } from './remove.ts';
import { attemptIn, isOfInstallation } from './tags.ts';
import type { Tokens } from './tokens.ts';

interface Dependencies {
  storage: Pick<Storage, 'connections' | 'connectAttempts'>;
  keys: KeyRing;
  client: NangoClient;
  tokens: Tokens;
  remove: Remove;
  installation: string;
  patienceMs: number;
  now: () => number;
}

/**
 * Longer than news of a connection takes, and much shorter than an attempt is remembered after the last moment in
 * which something can come of it: a connection that is older may be in use though its attempt is forgotten.
 */
const newMs = 3_600_000;

export function createDisconnect(deps: Dependencies) {
  const { storage, keys, client, tokens, remove, installation, patienceMs, now } = deps;
  const { connections, connectAttempts } = storage;

  return {
    async disconnect(key: ConnectionKey, server: ServerConfig | undefined): Promise<Disconnected> {
      const row = await takeAway(key);
      if (!row) return { kind: 'nothing-there' };
      const opened = openLink(keys, row);
      if (opened.kind === 'none') return { kind: 'removed', revocation: { kind: 'not-offered' } };
      if (opened.kind === 'unreadable') {
        const reason = `the stored account cannot be opened (${opened.why})`;
        return { kind: 'removed', revocation: { kind: 'failed', reason } };
      }
      const { link } = opened;
      tokens.forget({ link, version: row.version });
      const revocation = await end(link.integration, link.connectionId, server?.title ?? key.server);
      return { kind: 'removed', revocation };
    },

    async discard(integration: string, connectionId: string): Promise<void> {
      try {
        const { tags, createdAt } = await client.read(integration, connectionId);
        const attemptId = attemptIn(tags);
        // In a shared environment there are connections of others, and of people who never heard of us.
        if (attemptId === null || !isOfInstallation(tags, installation)) return;
        if (Math.abs(now() - createdAt) > newMs) return;
        if (await connectAttempts.get(attemptId)) return;
      } catch (error) {
        if (error instanceof NangoError && error.failure.kind === 'missing') return;
        throw toStoreError({ title: integration }, error);
      }
      await remove(integration, connectionId);
    },
  };

  /** After whatever is being recorded, and with all that could still be; but one that hangs keeps nobody. */
  async function takeAway(key: ConnectionKey): Promise<ConnectionRow | null> {
    const forget = async () => {
      await connectAttempts.dropOf(key);
      return connections.remove(key);
    };
    return underLock(connections, { key, waitMs: patienceMs }, forget, forget);
  }

  /** Nango forgets the account. It tells no provider so. */
  async function end(integration: string, connectionId: string, title: string): Promise<Revocation> {
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
}
