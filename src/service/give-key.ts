/** An API key that somebody entered: tried, kept, and confirmed like any other account; or the reason why not. */
import type { Logger } from 'pino';
import type { ServerConfig } from '../config/config.ts';
import type { Kept, VaultStore } from '../credentials/vault/store.ts';
import type { ConnectionKey } from '../storage/ports/connections.ts';
import type { ConfirmConnection } from './confirm-connection.ts';

export interface GivenKey {
  server: ServerConfig;
  key: ConnectionKey;
  entered: string;
  /** Who entered it, and where. */
  actor: string;
  address: string;
  /** Null when nobody asked. */
  elicitationId: string | null;
}

/** Null when it was kept. */
export type GiveKey = (given: GivenKey) => Promise<Exclude<Kept, { kind: 'kept' }> | null>;

interface Parts {
  keep: VaultStore['keep'];
  confirmConnection: ConfirmConnection;
  logger: Logger;
}

export function createGiveKey({ keep, confirmConnection, logger }: Parts): GiveKey {
  return async ({ server, key, entered, actor, address, elicitationId }) => {
    const kept = await keep(server, key, entered);
    if (kept.kind !== 'kept') {
      if ('reason' in kept)
        logger.warn(
          { tenant: key.tenant, server: server.name, elicitationId, reason: kept.reason },
          'an API key was not kept',
        );
      return kept;
    }
    await confirmConnection({ key, actor, elicitationId, address, isNew: true });
    return null;
  };
}
