/** What both kinds of process need: opened once from the configuration, handed to whoever needs it, closed by the process. */
import { pino } from 'pino';
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
import type { ElicitationRow, QuestionObserver } from '../storage/ports/elicitations.ts';
import type { Mark, OutboxObserver } from '../storage/ports/outbox.ts';
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
  /** Logs, counts and traces the questions of this process. */
  questions: QuestionObserver;
  logger: Logger;
  /** Absent in tests that bring their own Temporal: whether it belongs to the database is not asked. */
  installation?: InstallationWatch;
  /** Called when a worker has failed. Returns whether it is replaced; otherwise its end is that of the process. */
  onFailure?: () => boolean;
}

interface Options extends Pick<StorageOptions, 'isThere'> {
  /** The clock of deadlines, in tests that have their own. */
  time?: StorageOptions['time'] | undefined;
  /** Instead of log, metrics and traces. */
  questions?: QuestionObserver;
}

export async function openDependencies(
  config: Config,
  logger: Logger,
  { time, isThere = false, questions = reporting(logger, config) }: Options = {},
): Promise<Dependencies> {
  // A small buffer that a waiting turn keeps would keep a slab of 64 KiB, Node's default.
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
      // Some are read from it first.
      await spansWritten();
      await opened.close();
    },
  };
  const remote = createServersByProtocol(storage.learnedEras);
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
 * The work of a command on the database of a service, which has to be there. A command has no Temporal, and what it logs and
 * counts would not be collected: processes of the service notify workflows, and report the questions that it has settled.
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
