/**
 * What becomes of an account that another one takes the place of. Ending its tokens may end everything its person and
 * we have at that sign-in server, the new tokens included, so it is done only where the new ones certainly belong to
 * somebody else or come from elsewhere. All other tokens are forgotten, and end by themselves.
 */
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionRow } from '../../storage/storage.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import { tryOpenAccount } from './account.ts';
import type { Account } from './account.ts';
import type { Revoke } from './revoke.ts';

/** Never throws. */
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
