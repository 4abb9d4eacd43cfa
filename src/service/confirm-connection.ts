/**
 * What follows when a credential store has verified and recorded an account: the audit entry, once. The store's transaction
 * has settled the questions that wait for it; for an account of the whole tenant, batches that a process may have left
 * unfinished are completed here. Idempotent, so every hint that an account is connected may call it: the page that the
 * provider sends the browser back to, a key that was entered, a webhook, a poll.
 */
import type { Storage } from '../storage/storage.ts';
import type { ConnectionKey } from '../storage/ports/connections.ts';
import { connectionEstablished } from '../telemetry/metrics/instruments.ts';

export interface ConfirmedConnection {
  key: ConnectionKey;
  /** The id of the user who connected it. */
  actor: string;
  /** Null when no question asked for it. */
  elicitationId: string | null;
  /** Where it was connected from; null when a machine noticed. */
  address: string | null;
  /** False when this connection has been confirmed before. */
  isNew: boolean;
}

export type ConfirmConnection = (connection: ConfirmedConnection) => Promise<void>;

export function createConfirmConnection({
  audit,
  connections,
}: Pick<Storage, 'audit' | 'connections'>): ConfirmConnection {
  return async ({ key, actor, elicitationId, address, isNew }) => {
    const { tenant, server, user } = key;
    if (isNew) {
      connectionEstablished(server);
      await audit.record({
        at: Date.now(),
        tenant,
        elicitationId: elicitationId ?? '',
        actor,
        action: 'connected',
        detail: server,
        address,
      });
    }
    if (user === null) await connections.settleConnected(key);
  };
}
