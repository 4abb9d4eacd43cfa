/**
 * Checks for an account that is kept in another system: the user may have connected it and closed the window before we
 * were notified.
 */
import type { Config, ServerConfig } from '../config/config.ts';
import { connectionKey } from '../credentials/connection-key.ts';
import type { CredentialStore } from '../credentials/store.ts';
import type { Storage } from '../storage/storage.ts';
import type { ExpectedConnection } from '../turn/ask.ts';

interface Dependencies {
  storage: Pick<Storage, 'connections'>;
  servers: Config['servers'];
  storeOf(server: ServerConfig): CredentialStore;
}

export function createFindConnection({ storage, servers, storeOf }: Dependencies) {
  return {
    /** One check. The version of a connection newer than `seenVersion`, or null. */
    async findConnection({ turn, server: name, seenVersion }: ExpectedConnection): Promise<number | null> {
      const server = servers.get(name);
      if (!server) return null;
      const key = connectionKey(server, turn);
      await storeOf(server).catchUp?.(server, key);
      const connection = await storage.connections.get(key);
      return connection?.status === 'active' && connection.version > seenVersion ? connection.version : null;
    },
  };
}
