/** What both kinds of process need: opened once from the configuration, and closed by the process. */
import { pino } from 'pino';
import type { Logger } from 'pino';
import type { Config, ServerConfig } from '../config/config.ts';
import { openKeys } from '../../credentials/sealing/key-file.ts';
import { proveKeys } from '../../credentials/sealing/key-proofs.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import type { CredentialStore } from '../../credentials/credential-store.ts';
import { openStores, storeOf } from '../../credentials/stores.ts';
import type { Stores } from '../../credentials/stores.ts';
import type { InstallationWatch } from '../installation/installation.ts';
import type { Models } from '../../models/provider.ts';
import type { AuthorCode } from '../tool-bundles/tool-bundle.ts';
import type { RemoteServers } from '../../remote/remote-servers.ts';
import { createConfirmConnection } from '../../service/confirm-connection.ts';
import { toConfirmed } from '../../service/nango-attempts.ts';
import { openStorage } from '../../storage/open-storage.ts';
import type { StorageOptions } from '../../storage/open-storage.ts';
import type { ElicitationRow, Mark } from '../../storage/schema/question-tables.ts';
import type { QuestionObserver, OutboxObserver } from '../../storage/database.ts';
import type { Storage } from '../../storage/storage.ts';
import { createQuestionLog } from '../telemetry/events.ts';
import { createQuestionSpans } from '../telemetry/traces/question-spans.ts';
import { spansWritten } from '../telemetry/traces/tracing.ts';
import { openRemoteServers } from '../../remote/open-remote-servers.ts';

export interface Dependencies {
  config: Config;
  storage: Storage;
  keys: KeyRing;
  stores: Stores;
  remote: RemoteServers;
  storeOf(server: ServerConfig): CredentialStore;
  /**
   * Delivers the marks that this process should deliver at once. Without it, other processes deliver them after five
   * seconds.
   */
  onMarks(deliver: OutboxObserver): void;
  /** Logs, counts and traces the questions of this process. */
  questions: QuestionObserver;
  logger: Logger;
  /** Absent in tests with their own Temporal: whether it belongs to the database is not checked. */
  installation?: InstallationWatch;
  /** Tests of agents: instead of the configured models, and around the functions of tools in TypeScript. */
  models?: Models;
  aroundTools?: (code: AuthorCode) => AuthorCode;
  /** Called when a worker has failed. True if it is replaced; otherwise the process ends. */
  onFailure?: () => boolean;
}

interface Options extends Pick<StorageOptions, 'isThere'> {
  /** The clock of deadlines, for tests. */
  time?: StorageOptions['time'] | undefined;
  /** Instead of log, metrics and traces. */
  questions?: QuestionObserver;
}

export async function openDependencies(
  config: Config,
  logger: Logger,
  { time, isThere = false, questions = reporting(logger, config) }: Options = {},
): Promise<Dependencies> {
  // Node's default pool would keep a slab of 64 KiB alive for a small buffer of a waiting turn.
  Buffer.poolSize = 8 * 1024;
  let deliver: OutboxObserver = () => undefined;
  const opened = await openStorage(config.database, {
    logger,
    isThere,
    questions,
    outbox: (marks) => deliver(marks),
    ...(time && { time }),
  });
  const storage: Storage = {
    ...opened,
    async close() {
      // Some spans are read from the database first.
      await spansWritten();
      await opened.close();
    },
  };
  const remote = openRemoteServers({ learnedEras: storage.learnedEras });
  const confirm = createConfirmConnection(storage);
  try {
    const keys = await openKeys(config, { areThere: isThere });
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
      questions,
      logger,
    };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

function reporting(logger: Logger, { servers }: Pick<Config, 'servers'>): QuestionObserver {
  const observers = [createQuestionLog(logger, servers), createQuestionSpans(servers)];
  return {
    opened: (question) => observers.forEach((observer) => observer.opened(question)),
    settled: (question) => observers.forEach((observer) => observer.settled(question)),
  };
}

/**
 * The work of a command on an existing database of a service. A command has no Temporal, and its logs and metrics would
 * not be collected: processes of the service notify workflows and report the questions that it settled.
 */
export async function onServiceDatabase<T>(
  config: Config,
  work: (parts: Dependencies) => Promise<T>,
): Promise<T> {
  const marks: Mark[] = [];
  const settled: ElicitationRow[] = [];
  const parts = await openDependencies(config, pino({ level: 'silent' }), {
    isThere: true,
    questions: { opened() {}, settled: (question) => void settled.push(question) },
  });
  const { storage } = parts;
  parts.onMarks((given) => void marks.push(...given));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => storage.close());
  stack.defer(() => storage.outbox.handOver(marks, settled));
  return await work(parts);
}

class WrongKeys extends Error {
  override name = 'WrongKeys';
}
