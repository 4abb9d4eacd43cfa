/** The end of an account: of one that a person disconnects, and of one that another takes the place of. */
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/ports/connections.ts';
import type { Storage } from '../../storage/storage.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { Disconnected } from '../store.ts';
import { underLock } from '../under-lock.ts';
import { tryOpenAccount } from './account.ts';
import type { Account } from './account.ts';
import type { Revoke } from './revoke.ts';

interface Dependencies {
  storage: Pick<Storage, 'connections'>;
  keys: KeyRing;
  revoke: Revoke;
  lockWaitMs: number;
}

export function createDisconnect({ storage, keys, revoke, lockWaitMs }: Dependencies) {
  const { connections } = storage;

  /** Here at once and in any case, and at the provider where it can be. */
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
    return underLock(connections, { key, waitMs: lockWaitMs }, forget, forget);
  }
}

/**
 * What becomes of an account that another one takes the place of. Ending its tokens may end everything its person and
 * we have at that sign-in server, the new tokens included, so it is done only where the new ones certainly belong to
 * somebody else or come from elsewhere. All other tokens are forgotten, and end by themselves. Never throws.
 */
export type RevokeReplaced = (
  replaced: ConnectionRow,
  successor: Account,
  server: ServerConfig,
) => Promise<void>;

export function createRevokeReplaced({ keys, revoke }: { keys: KeyRing; revoke: Revoke }): RevokeReplaced {
  return async (replaced, successor, server) => {
    const opened = replaced.store === 'oauth' ? tryOpenAccount(keys, replaced) : null;
    if (opened?.kind !== 'account' || !isApart(opened.account, successor)) return;
    await revoke(opened.account, server);
  };
}

/** Two grants that have nothing to do with each other, whatever a provider takes for one. */
function isApart(one: Account, other: Account): boolean {
  if (one.issuer !== other.issuer) return true;
  return one.subject !== undefined && other.subject !== undefined && one.subject !== other.subject;
}
