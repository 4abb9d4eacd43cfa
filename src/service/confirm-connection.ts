import type { Storage } from '../storage/storage.ts';
import { connectionEstablished } from '../platform/telemetry/metrics/instruments.ts';
import type { ConnectionKey } from '../storage/schema/account-tables.ts';

export interface ConfirmedConnection {
  key: ConnectionKey;
  /** The id of the user who connected it. */
  actor: string;
  /** Null when no question asked for it. */
  elicitationId: string | null;
  /** Where it was connected from; null when it was found by a machine. */
  address: string | null;
  /** False when this connection has been confirmed before. */
  isNew: boolean;
}

/**
 * What follows when a credential store has verified and recorded an account: the audit entry, once. The store's transaction
 * has settled the questions that wait for the account; for an account of the whole tenant, this settles the batches that a
 * process may have left. Idempotent: the callback page, an entered key, a webhook and a poll may all call it.
 */
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
