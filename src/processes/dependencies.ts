/** What both kinds of process need: opened once from the configuration, handed to whoever needs it, closed by the process. */
import type { Logger } from 'pino';
import type { Config, ServerConfig } from '../config/config.ts';
import { proveKeys } from '../credentials/sealing/key-proofs.ts';
import { openKeys } from '../credentials/sealing/key-file.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import type { CredentialStore } from '../credentials/store.ts';
import { openStores, storeOf } from '../credentials/stores.ts';
import type { Stores } from '../credentials/stores.ts';
import { createServersByProtocol } from '../remote/servers-by-protocol.ts';
import type { InstallationWatch } from '../installation/installation.ts';
import type { RemoteServers } from '../remote/remote-servers.ts';
import { createConfirmConnection } from '../service/confirm-connection.ts';
import { toConfirmed } from '../service/nango-attempts.ts';
import { openStorage } from '../storage/open-storage.ts';
import type { StorageOptions } from '../storage/open-storage.ts';
import type { OutboxObserver } from '../storage/ports/outbox.ts';
import type { Storage } from '../storage/storage.ts';
import { createQuestionLog } from '../telemetry/question-log.ts';
import { createQuestionSpans } from '../telemetry/traces/question-spans.ts';
import { spansWritten } from '../telemetry/traces/tracing.ts';

export interface Dependencies {
  config: Config;
  storage: Storage;
  keys: KeyRing;
  stores: Stores;
  remote: RemoteServers;
  storeOf(server: ServerConfig): CredentialStore;
  /** Who delivers the marks that this process has to deliver at once. Without, other processes deliver them after five seconds. */
  onMarks(deliver: OutboxObserver): void;
  logger: Logger;
  /** Absent in tests that bring their own Temporal: whether it belongs to the database is not asked. */
  installation?: InstallationWatch;
  /** Called when a worker has failed. Returns whether it is replaced; otherwise its end is that of the process. */
  onFailure?: () => boolean;
}

/** `time`: the clock of deadlines, in tests that have their own. */
export async function openDependencies(
  config: Config,
  logger: Logger,
  { time }: Pick<StorageOptions, 'time'> = {},
): Promise<Dependencies> {
  // A small buffer that a waiting turn keeps would keep a slab of 64 KiB, Node's default.
  Buffer.poolSize = 8 * 1024;
  const keys = await openKeys(config);
  let deliver: OutboxObserver = () => undefined;
  const observers = [createQuestionLog(logger, config.servers), createQuestionSpans(config.servers)];
  const opened = await openStorage(config.database, {
    logger,
    questions: {
      opened: (question) => observers.forEach((observer) => observer.opened(question)),
      settled: (question) => observers.forEach((observer) => observer.settled(question)),
    },
    outbox: (marks) => deliver(marks),
    ...(time && { time }),
  });
  const storage: Storage = {
    ...opened,
    async close() {
      // Some are read from it first.
      await spansWritten();
      await opened.close();
    },
  };
  const remote = createServersByProtocol(storage.learnedEras);
  const confirm = createConfirmConnection(storage);
  try {
    const problem = await proveKeys(storage, keys);
    if (problem !== null) throw new WrongKeys(problem);
    const stores = await openStores({
      config,
      storage,
      keys,
      listTools: remote.listTools,
      confirmFound: (found) => confirm(toConfirmed(found, null)),
      logger,
    });
    return {
      config,
      storage,
      keys,
      stores,
      remote,
      storeOf: (server) => storeOf(stores, server),
      onMarks: (observer) => void (deliver = observer),
      logger,
    };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

class WrongKeys extends Error {
  override name = 'WrongKeys';
}
