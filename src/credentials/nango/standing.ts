/** What a stored connection is worth, without asking Nango. */
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionRow } from '../../storage/storage.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { Standing } from '../store.ts';
import { isFor, openLink } from './link.ts';

export function createStanding({ keys }: { keys: KeyRing }) {
  return function standing(row: ConnectionRow, server: ServerConfig | undefined): Standing {
    const opened = openLink(keys, row);
    if (opened.kind === 'unreadable') return { host: null, status: 'broken', reason: 'unreadable' };
    if (opened.kind === 'none') return { host: null, status: 'broken', reason: 'server_changed' };
    const { host } = new URL(opened.link.serverUrl);
    if (!server || !isFor(opened.link, server)) return { host, status: 'broken', reason: 'server_changed' };
    if (row.status === 'active') return { host, status: 'active' };
    const { brokenReason } = row;
    const isSaid = brokenReason !== null && brokenReason !== 'missing';
    return { host, status: 'broken', reason: isSaid ? brokenReason : 'rejected' };
  };
}
