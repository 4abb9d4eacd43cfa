/** A worker of turns and deliveries: runs one version of their workflows, and this process's activities. */
import { DefaultLogger, MetricsBuffer, Runtime, Worker, makeTelemetryFilterString } from '@temporalio/worker';
import type {
  LogLevel,
  NativeConnection,
  WorkerOptions,
  WorkerTuner,
  WorkflowBundleOption,
} from '@temporalio/worker';
import { TemporalFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { heartbeatMs } from '../../activities/heartbeat.ts';
import type { HeldCallLimit } from '../../activities/call-tool/held-call-limit.ts';
import type { OfferedTools } from '../../activities/durable-tools/offered-tools.ts';
import { createActivities } from '../../activities/index.ts';
import { aboutTurnOf } from '../../telemetry/events.ts';
import { openingCodec } from '../../temporal/sealed-payloads.ts';
import { unreadableAsNull } from '../../temporal/unreadable-payloads.ts';
import type { Version } from '../../temporal/deployment.ts';
import { taskTimeouts } from '../../workflows/messages.ts';
import { lightenWorkflowThreads } from '../../temporal/workflow-threads.ts';
import { createCatalogue } from '../../remote/catalogue.ts';
import { logModelWarnings } from '../../models/log-warnings.ts';
import { createModels } from '../../models/provider.ts';
import type { Metrics } from '../../telemetry/metrics/start-metrics.ts';
import { temporalBufferSize } from '../../telemetry/metrics/temporal-metrics.ts';
import type { Dependencies } from '../dependencies.ts';
import { activityInterceptors } from '../own-installation.ts';
import { withoutHungThreads } from './hung-threads.ts';
import { longestStopMs } from './running-workers.ts';
import { createWorkerBudget } from './worker-budget.ts';

export type TurnWorkerParts = Dependencies & { heldCallLimit: HeldCallLimit; offeredTools?: OfferedTools };

interface Options {
  workflowBundle: WorkflowBundleOption;
  /** Absent: it runs turns that have no version, for tests, whose workflow code is always the same. */
  versioned?: { version: Version; maxCachedWorkflows: number };
  /** Slots for its tasks; absent: as many as one worker has. */
  tuner?: WorkerTuner;
}

export async function createTurnWorker(
  parts: TurnWorkerParts,
  connection: NativeConnection,
  { workflowBundle, versioned, tuner }: Options,
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
      interceptors: { activity: activityInterceptors(parts) },
      stickyQueueScheduleToStartTimeout: taskTimeouts.stickyQueue,
      // The default throttles heartbeats to 80 % of their timeout: one late heartbeat, and the worker counts as dead.
      maxHeartbeatThrottleInterval: heartbeatMs,
      shutdownGraceTime: config.shutdownGraceMs,
      shutdownForceTime: longestStopMs(config),
      tuner: tuner ?? createWorkerBudget(config).tuner(),
      ...(versioned && {
        maxCachedWorkflows: versioned.maxCachedWorkflows,
        workerDeploymentOptions: pinned(versioned.version),
      }),
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

/**
 * Temporal's own log, from warnings up, goes where ours goes, and its metrics to ours where there are any. Once per process,
 * before any connection.
 */
export function installRuntime(logger: Logger, metrics: Metrics | null = null): void {
  const buffer =
    metrics && new MetricsBuffer({ maxBufferSize: temporalBufferSize, useSecondsForDurations: true });
  const filter = makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' });
  Runtime.install({
    logger: temporalLogger(logger),
    shutdownSignals: [],
    telemetryOptions: { logging: { filter, forward: {} }, ...(buffer && { metrics: { buffer } }) },
  });
  if (buffer) metrics?.addTemporal(buffer);
}

/** Errors are logged as ours are: as a member of something else they would be an empty object. */
export function temporalLogger(logger: Logger): DefaultLogger {
  return new DefaultLogger('WARN', ({ level, message, meta }) => {
    // A call that is repeated has not failed, however often.
    const isRepeated = /^gRPC call \S+ retried /.test(message);
    const { error, activityType, attempt, workflowId, ...temporal } = meta ?? {};
    // Thrown on purpose: its message says all.
    const why =
      error instanceof TemporalFailure ? { reason: error.message } : error !== undefined && { err: error };
    const about = {
      ...(typeof workflowId === 'string' && { ...aboutTurnOf(workflowId), workflowId }),
      ...(activityType !== undefined && { activity: activityType, attempt }),
      ...why,
    };
    const what = typeof activityType === 'string' ? `${message}: ${activityType}` : message;
    logger[isRepeated ? 'warn' : pinoLevel(level)]({ ...about, temporal }, what);
  });
}

function pinoLevel(level: LogLevel): 'trace' | 'debug' | 'info' | 'warn' | 'error' {
  return level.toLowerCase() as Lowercase<LogLevel>;
}
