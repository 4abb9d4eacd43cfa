/** The worker process's one part: polls Temporal and runs workflows and activities. */
import { DefaultLogger, Runtime, Worker, makeTelemetryFilterString } from '@temporalio/worker';
import type { LogLevel, NativeConnection, WorkerOptions, WorkflowBundleOption } from '@temporalio/worker';
import type { Logger } from 'pino';
import { heartbeatMs } from '../activities/heartbeat.ts';
import type { HeldPlaces } from '../activities/call-tool/held-call-limit.ts';
import { createActivities } from '../activities/index.ts';
import { safeFailures } from '../activities/safe-failures.ts';
import type { Version } from '../temporal/deployment.ts';
import { createCatalogue } from '../remote/catalogue.ts';
import { logModelWarnings } from '../models/log-warnings.ts';
import { createModels } from '../models/provider.ts';
import type { Parts } from './parts.ts';
import { workerSlots } from './worker-slots.ts';

/** Without a version it takes turns of no version, whatever code they began with: for tests, whose code is always the same. */
export async function createTurnWorker(
  parts: Parts & { heldPlaces: HeldPlaces },
  connection: NativeConnection,
  workflowBundle: WorkflowBundleOption,
  version?: Version,
): Promise<Worker> {
  const { config, storage, remote, logger } = parts;
  const { namespace, taskQueue } = config.temporal;
  const catalogue = createCatalogue({ storage, remote, logger });
  logModelWarnings(logger);
  return Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle,
    activities: createActivities({ ...parts, catalogue, models: createModels(config) }),
    interceptors: { activity: [safeFailures(logger)] },
    // What is said to a turn whose worker was killed is handed to another one after this long (one that shuts down says so);
    // a new message waits for its turn to make room no longer than ten seconds. Much shorter than a burst takes, it makes
    // turns replay that only wait in line, and each replay lengthens the line.
    stickyQueueScheduleToStartTimeout: '4s',
    // The default holds them back for 80 % of the time after which a worker is given up: one that is late would be dead.
    maxHeartbeatThrottleInterval: heartbeatMs,
    ...workerSlots(config.worker),
    shutdownGraceTime: config.shutdownGraceMs,
    // For what is told then that it has to end.
    shutdownForceTime: config.shutdownGraceMs + 5_000,
    ...(version && { workerDeploymentOptions: pinned(version) }),
  });
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
    logger: quietly(logger),
    shutdownSignals: [],
    telemetryOptions: { logging: { filter, forward: {} } },
  });
}

function quietly(logger: Logger): DefaultLogger {
  return new DefaultLogger('WARN', ({ level, message, meta }) => {
    logger[pinoLevel(level)]({ temporal: meta }, message);
  });
}

function pinoLevel(level: LogLevel): 'trace' | 'debug' | 'info' | 'warn' | 'error' {
  return level.toLowerCase() as Lowercase<LogLevel>;
}

/** Runs until the stack is disposed, which waits for what is under way. A worker that fails ends the process. */
export function runWorker(
  worker: Worker,
  { logger, config, heldPlaces }: Pick<Parts, 'logger' | 'config'> & { heldPlaces: HeldPlaces },
  stack: AsyncDisposableStack,
): void {
  const running = worker.run().catch((error: unknown) => {
    logger.fatal({ err: error }, 'the worker stopped');
    process.exit(1);
  });
  stack.defer(async () => {
    heldPlaces.end();
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
