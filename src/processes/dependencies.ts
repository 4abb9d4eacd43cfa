/** What both kinds of process need: opened once from the configuration, handed to whoever needs it, closed by the process. */
import type { Logger } from 'pino';
import type { Config, ServerConfig } from '../config/config.ts';
import { proveKeys } from '../credentials/sealing/key-proofs.ts';
import { openKeys } from '../credentials/sealing/key-file.ts';
import { createOAuthStore } from '../credentials/mcp-oauth/store.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import { loadNangoSdk } from '../credentials/nango/client.ts';
import type { Connected } from '../credentials/nango/record.ts';
import { createNangoStore } from '../credentials/nango/store.ts';
import type { CredentialStore } from '../credentials/store.ts';
import { storeOf } from '../credentials/stores.ts';
import type { Stores } from '../credentials/stores.ts';
import { createVaultStore } from '../credentials/vault/store.ts';
import { createServersByProtocol } from '../remote/servers-by-protocol.ts';
import type { RemoteServers } from '../remote/remote-servers.ts';
import { createConfirmConnection } from '../service/confirm-connection.ts';
import { toConfirmed } from '../service/nango-attempts.ts';
import { openStorage } from '../storage/open-storage.ts';
import type { Storage } from '../storage/storage.ts';
import { createQuestionLog } from '../telemetry/question-log.ts';

export interface Dependencies {
  config: Config;
  storage: Storage;
  keys: KeyRing;
  stores: Stores;
  remote: RemoteServers;
  storeOf(server: ServerConfig): CredentialStore;
  logger: Logger;
}

export async function openDependencies(config: Config, logger: Logger): Promise<Dependencies> {
  // At start rather than in the middle of somebody's turn.
  if ([...config.servers.values()].some(({ store }) => store === 'nango')) await loadNangoSdk();
  const keys = await openKeys(config);
  const storage = await openStorage(config.database, {
    logger,
    questions: createQuestionLog(logger, config.servers),
  });
  try {
    const problem = await proveKeys(storage, keys);
    if (problem !== null) throw new WrongKeys(problem);
  } catch (error) {
    await storage.close();
    throw error;
  }
  const { nango, servers } = config;
  const { publicUrl } = config.http;
  const remote = createServersByProtocol();
  const confirm = createConfirmConnection({ audit: storage.audit, announce: null, logger });
  const confirmFound = (found: Connected) => confirm(toConfirmed(found, null));
  const stores: Stores = {
    oauth: createOAuthStore({ storage, keys, publicUrl, servers, secret: config.secret }),
    vault: createVaultStore({ storage, keys, listTools: remote.listTools }),
    nango: nango
      ? createNangoStore({ storage, keys, nango, publicUrl, servers, logger, confirmFound })
      : null,
  };
  return { config, storage, keys, stores, remote, storeOf: (server) => storeOf(stores, server), logger };
}

class WrongKeys extends Error {
  override name = 'WrongKeys';
}
