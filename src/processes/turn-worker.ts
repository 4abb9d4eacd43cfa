/** Temporal's worker: polls the task queue and runs workflows and activities. */
import { DefaultLogger, Runtime, Worker, makeTelemetryFilterString } from '@temporalio/worker';
import type { LogLevel, NativeConnection, WorkerOptions, WorkflowBundleOption } from '@temporalio/worker';
import type { Logger } from 'pino';
import { heartbeatMs } from '../activities/heartbeat.ts';
import type { HeldCallLimit } from '../activities/call-tool/held-call-limit.ts';
import type { OfferedTools } from '../activities/durable-tools/offered-tools.ts';
import { createActivities } from '../activities/index.ts';
import { safeFailures } from '../activities/safe-failures.ts';
import { openingCodec } from '../temporal/sealed-payloads.ts';
import { unreadableAsNull } from '../temporal/unreadable-payloads.ts';
import type { Version } from '../temporal/deployment.ts';
import { stickyQueueScheduleToStartTimeout } from '../temporal/sticky-queue.ts';
import { lightenWorkflowThreads } from '../temporal/workflow-threads.ts';
import { createCatalogue } from '../remote/catalogue.ts';
import { logModelWarnings } from '../models/log-warnings.ts';
import { createModels } from '../models/provider.ts';
import type { Dependencies } from './dependencies.ts';
import { withoutHungThreads } from './hung-threads.ts';

/** Short writes inside workflow tasks, at once. More would only queue for the database's connections. */
const localWrites = 100;

/** Without a version it runs turns that have none: for tests, whose workflow code is always the same. */
export async function createTurnWorker(
  parts: Dependencies & { heldCallLimit: HeldCallLimit; offeredTools?: OfferedTools },
  connection: NativeConnection,
  workflowBundle: WorkflowBundleOption,
  version?: Version,
): Promise<Worker> {
  const { config, storage, remote, logger } = parts;
  const { namespace, taskQueue } = config.temporal;
  const catalogue = createCatalogue({ storage, remote, logger });
  logModelWarnings(logger);
  lightenWorkflowThreads();
  return withoutHungThreads({ logger }, () =>
    Worker.create({
      connection,
      namespace,
      taskQueue,
      workflowBundle,
      activities: createActivities({ ...parts, catalogue, models: createModels(config) }),
      // What tools in TypeScript report is sealed.
      dataConverter: { payloadCodecs: [unreadableAsNull(openingCodec(parts.keys))] },
      interceptors: { activity: [safeFailures(logger)] },
      stickyQueueScheduleToStartTimeout,
      // The default throttles heartbeats to 80 % of their timeout: one late heartbeat, and the worker counts as dead.
      maxHeartbeatThrottleInterval: heartbeatMs,
      // A tool call whose server holds the connection while a person thinks is counted apart, and refused over its limit: it
      // never takes the slots that others work with.
      maxConcurrentActivityTaskExecutions: config.worker.calls + config.worker.heldCalls,
      maxConcurrentLocalActivityExecutions: localWrites,
      shutdownGraceTime: config.shutdownGraceMs,
      // Activities that are cancelled after the grace period get five seconds to end.
      shutdownForceTime: config.shutdownGraceMs + 5_000,
      ...(version && { workerDeploymentOptions: pinned(version) }),
    }),
  );
}

/** Running turns stay on the build that started them. */
function pinned(version: Version): NonNullable<WorkerOptions['workerDeploymentOptions']> {
  return {
    version,
    useWorkerVersioning: true,
    defaultVersioningBehavior: 'PINNED',
  };
}

/** Temporal's own log, from warnings up, goes where ours goes. Once per process, before any connection. */
export function installRuntime(logger: Logger): void {
  const filter = makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' });
  Runtime.install({
    logger: temporalLogger(logger),
    shutdownSignals: [],
    telemetryOptions: { logging: { filter, forward: {} } },
  });
}

function temporalLogger(logger: Logger): DefaultLogger {
  return new DefaultLogger('WARN', ({ level, message, meta }) => {
    logger[pinoLevel(level)]({ temporal: meta }, message);
  });
}

function pinoLevel(level: LogLevel): 'trace' | 'debug' | 'info' | 'warn' | 'error' {
  return level.toLowerCase() as Lowercase<LogLevel>;
}

/**
 * Runs until the stack is disposed, which waits for what is under way. A worker that fails ends the process, unless it is
 * stopping: then the rest of the stack is still to be closed.
 */
export function runWorker(
  worker: Pick<Worker, 'run' | 'getStatus' | 'getState' | 'shutdown'>,
  {
    logger,
    config,
    heldCallLimit,
  }: Pick<Dependencies, 'logger' | 'config'> & { heldCallLimit: HeldCallLimit },
  stack: AsyncDisposableStack,
): void {
  let isStopping = false;
  const running = worker.run().catch((error: unknown) => {
    if (isStopping) {
      logger.error({ err: error }, 'the worker failed while it was stopping; what it has begun is left');
      return;
    }
    logger.fatal({ err: error }, 'the worker stopped');
    process.exit(1);
  });
  stack.defer(async () => {
    isStopping = true;
    heldCallLimit.end();
    const underWay = worker.getStatus().numInFlightActivities;
    if (underWay > 0) {
      logger.info(
        `waiting up to ${config.shutdownGraceMs / 1000} s for calls of models and tools that are under way (${underWay}); stop again to leave them`,
      );
    }
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await running;
  });
}

/** One that never ran keeps its connection from being closed. Does nothing to one that has run. */
export async function discardWorker(worker: Worker): Promise<void> {
  if (worker.getState() !== 'INITIALIZED') return;
  const running = worker.run();
  worker.shutdown();
  await running;
}
