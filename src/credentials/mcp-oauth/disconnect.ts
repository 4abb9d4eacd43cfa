/** The end of a connection: here at once and in any case, and at the provider where it can be. */
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionKey, ConnectionRow, Storage } from '../../storage/storage.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { Disconnected } from '../store.ts';
import { underLock } from '../under-lock.ts';
import { tryOpenAccount } from './account.ts';
import type { Revoke } from './revoke.ts';

interface Dependencies {
  storage: Pick<Storage, 'connections'>;
  keys: KeyRing;
  revoke: Revoke;
  patienceMs: number;
}

export function createDisconnect({ storage, keys, revoke, patienceMs }: Dependencies) {
  const { connections } = storage;

  return async function disconnect(
    key: ConnectionKey,
    server: ServerConfig | undefined,
  ): Promise<Disconnected> {
    const row = await remove(key);
    if (!row) return { kind: 'nothing-there' };
    if (row.store !== 'oauth') return { kind: 'removed', revocation: { kind: 'not-offered' } };
    const opened = tryOpenAccount(keys, row);
    const revocation =
      opened.kind === 'account'
        ? await revoke(opened.account, server)
        : ({ kind: 'failed', reason: `the stored account cannot be opened (${opened.why})` } as const);
    return { kind: 'removed', revocation };
  };

  /** After a refresh that is under way, so that what it brings is revoked, too; but a refresh that hangs keeps nobody. */
  async function remove(key: ConnectionKey): Promise<ConnectionRow | null> {
    const forget = () => connections.remove(key);
    return underLock(connections, { key, waitMs: patienceMs }, forget, forget);
  }
}
