/** Accounts kept elsewhere are looked for: who connected one may have closed the window before anybody was told. */
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Logger } from 'pino';
import type { Config, ServerConfig } from '../config.ts';
import { connectionKey } from '../credentials/connection-key.ts';
import { CredentialStoreError } from '../credentials/store.ts';
import type { CredentialStore } from '../credentials/store.ts';
import type { Storage } from '../storage/storage.ts';
import type { Turn } from '../turn/turn.ts';

export interface ExpectedConnection {
  turn: Turn;
  server: string;
  /** The connection version that did not do. */
  seenVersion: number;
}

interface Dependencies {
  storage: Pick<Storage, 'connections'>;
  servers: Config['servers'];
  storeOf(server: ServerConfig): CredentialStore;
  logger: Logger;
}

export function createFindConnection({ storage, servers, storeOf, logger }: Dependencies) {
  return {
    /** One look. Resolves with the version of the connection that is there by now, or with null. */
    findConnection: find,

    /** One look; it is retried until there is a connection. */
    async awaitConnection(expected: ExpectedConnection): Promise<number> {
      let retryAfterMs: number | undefined;
      const version = await find(expected).catch((error: unknown) => {
        if (!(error instanceof CredentialStoreError)) throw error;
        logger.warn({ server: expected.server, reason: error.message }, 'an account could not be looked for');
        ({ retryAfterMs } = error);
        return null;
      });
      if (version === null) throw notYet(retryAfterMs);
      return version;
    },
  };

  async function find({ turn, server: name, seenVersion }: ExpectedConnection): Promise<number | null> {
    const server = servers.get(name);
    if (!server) return null;
    const key = connectionKey(server, turn);
    await storeOf(server).catchUp?.(server, key);
    const connection = await storage.connections.get(key);
    return connection?.status === 'active' && connection.version > seenVersion ? connection.version : null;
  }
}

/** No failure that anybody should read of. */
function notYet(nextRetryDelay: number | undefined): ApplicationFailure {
  return ApplicationFailure.create({
    message: 'Nothing is connected yet.',
    type: 'NotConnectedYet',
    category: ApplicationFailureCategory.BENIGN,
    ...(nextRetryDelay !== undefined && { nextRetryDelay }),
  });
}
