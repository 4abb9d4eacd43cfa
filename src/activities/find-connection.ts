/** Accounts kept elsewhere are looked for: who connected one may have closed the window before anybody was told. */
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
    /** One look. Resolves with the version of the connection that is there by now, or with null. */
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
