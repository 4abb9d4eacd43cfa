/** What a stored connection is worth, without asking anybody: what the next call would make of it. */
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionRow } from '../../storage/storage.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { Standing } from '../store.ts';
import { tryOpenAccount } from './account.ts';

export function createStanding({ keys, now }: { keys: KeyRing; now: () => number }) {
  return function standing(row: ConnectionRow, server: ServerConfig | undefined): Standing {
    const opened = row.store === 'oauth' ? tryOpenAccount(keys, row) : null;
    if (opened?.kind === 'unreadable') return { host: null, status: 'broken', reason: 'unreadable' };
    const account = opened?.account;
    const host = account ? new URL(account.serverUrl).host : null;
    // What was connected for another address is never sent to this one.
    if (!account || account.serverUrl !== server?.url)
      return { host, status: 'broken', reason: 'server_changed' };
    const { brokenReason } = row;
    if (row.status === 'broken') {
      const isSaid = brokenReason !== null && brokenReason !== 'missing';
      return { host, status: 'broken', reason: isSaid ? brokenReason : 'rejected' };
    }
    const { expiresAt, refreshToken } = account;
    const isOver = expiresAt !== null && now() >= expiresAt && refreshToken === undefined;
    return isOver ? { host, status: 'broken', reason: 'rejected' } : { host, status: 'active' };
  };
}
