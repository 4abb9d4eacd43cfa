/**
 * What follows when a credential store has verified and recorded an account, whoever noticed first: the page the
 * provider sends the browser back to, a key that somebody entered, a webhook, or a poll. It enters the audit once, and
 * every turn that waits for it is told. Idempotent: a connection that was confirmed before is only announced again.
 */
import type { Logger } from 'pino';
import type { Audit } from '../storage/ports/audit.ts';
import type { ConnectionKey } from '../storage/ports/connections.ts';
import type { ConnectionAnnouncer } from './announce-connection.ts';

export interface ConfirmedConnection {
  key: ConnectionKey;
  version: number;
  /** The user id of whoever connected it. */
  actor: string;
  /** Null when no question asked for it. */
  elicitationId: string | null;
  /** Where it was connected from; null when a machine noticed. */
  address: string | null;
  /** False when this connection has been confirmed before. */
  isNew: boolean;
}

/** Rejects only when the audit cannot be written. */
export type ConfirmConnection = (connection: ConfirmedConnection) => Promise<void>;

interface Parts {
  audit: Pick<Audit, 'record'>;
  /** Null in a process that cannot reach turns: reconciliation tells them. */
  announce: ConnectionAnnouncer['announce'] | null;
  logger: Logger;
}

export function createConfirmConnection({ audit, announce, logger }: Parts): ConfirmConnection {
  return async ({ key, version, actor, elicitationId, address, isNew }) => {
    const { tenant, server } = key;
    if (isNew) {
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
    // The account is there; should telling the turns fail, reconciliation finds them.
    await announce?.(key, version).catch((error: unknown) =>
      logger.error({ err: error, server, elicitationId }, 'could not tell the turns of a new connection'),
    );
  };
}
