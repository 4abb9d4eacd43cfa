/**
 * The workers of turns and deliveries, one for each version of the workflow code: this process's own version, the current one, and
 * every other with open workflows. Under Temporal's Worker Controller, which runs a process per version, only the own one.
 */
import { Client } from '@temporalio/client';
import { TemporalFailure } from '@temporalio/common';
import { DefaultLogger, makeTelemetryFilterString, MetricsBuffer, Runtime, Worker } from '@temporalio/worker';
import type {
  LogLevel,
  NativeConnection,
  WorkerOptions,
  WorkerTuner,
  WorkflowBundleOption,
} from '@temporalio/worker';
import type { Logger } from 'pino';
import type { HeldCallLimit } from '../../../activities/call-tool/held-call-limit.ts';
import type { OfferedTools } from '../../../activities/call-model/agent-tools.ts';
import { heartbeatMs } from '../../../activities/running-activity.ts';
import { createActivities } from '../../../activities/index.ts';
import { logModelWarnings, createModels } from '../../../models/provider.ts';
import { createCatalogue } from '../../../remote/catalogue.ts';
import { routedByTemporal } from '../../../storage/tables/versions.ts';
import type { Metrics } from '../../telemetry/metrics/start-metrics.ts';
import { temporalBufferSize } from '../../telemetry/metrics/start-metrics.ts';
import type { Version } from '../../temporal/deployment.ts';
import { joinWithSdk } from '../../temporal/join-sdk.ts';
import { openingCodec, unreadableAsNull } from '../../temporal/sealed-payloads.ts';
import { lightenWorkflowThreads } from '../../temporal/workflow-threads.ts';
import { taskTimeouts } from '../../../workflows/messages.ts';
import type { Dependencies } from '../dependencies.ts';
import { startCodeWorkers } from './code-workers.ts';
import type { CodeWorkers } from './code-workers.ts';
import { withoutHungThreads } from './hung-threads.ts';
import { activityInterceptors, longestStopMs } from './running-workers.ts';
import type { TurnCode } from './turn-code.ts';
import { createWorkerBudget } from './worker-budget.ts';
import { turnOfWorkflow } from '../../../turn/turn.ts';

/** At least this long, or as long as the namespace keeps histories: a closed workflow can be reset or queried. */
const keptMs = 7 * 24 * 60 * 60_000;

export async function startTurnWorkers(
  parts: TurnWorkerParts,
  connection: NativeConnection,
  own: TurnCode,
): Promise<CodeWorkers> {
  const { config, logger } = parts;
  const { namespace, deployment } = config.temporal;
  const client = new Client({ connection, namespace });
  const budget = createWorkerBudget(config);
  return startCodeWorkers<string>(parts, client, {
    kind: 'turns',
    own: [{ id: own.buildId, kind: 'turns', needs: own.needs, content: own.code }],
    async create({ id, content }) {
      const workflowBundle = await joinWithSdk({ code: content });
      const cache = budget.takeCache(id === own.buildId);
      try {
        const worker = await createTurnWorker(parts, connection, {
          workflowBundle,
          tuner: budget.tuner(),
          versioned: {
            version: { deploymentName: deployment.name, buildId: id },
            maxCachedWorkflows: cache.size,
          },
        });
        return { worker, onStopped: cache.giveBack };
      } catch (error) {
        // The next look tries it again.
        cache.giveBack();
        throw error;
      }
    },
    openWorkflows: (buildId) =>
      `TemporalWorkerDeploymentVersion = '${deployment.name}:${buildId}' AND ExecutionStatus = 'Running'`,
    keptMs: Math.max(keptMs, await retentionMs(client)),
    onOwnFailure(_code, error) {
      if (parts.onFailure?.()) return;
      // The process ends: a failed worker may leave it in any state.
      logger.fatal({ err: error }, 'the worker stopped');
      process.exit(1);
    },
    alsoNeeded: createNeededVersions(parts),
  });
}

/** The current version, and those of open turns. Warns about turns without one. */
function createNeededVersions({ config, storage, logger }: Dependencies): () => Promise<ReadonlySet<string>> {
  const { versions } = storage;
  let before = 0;
  return async () => {
    const [current, { buildIds, unversioned }] = await Promise.all([
      versions.current(config.temporal.deployment.name),
      versions.openVersions(),
    ]);
    if (unversioned > before)
      logger.warn(
        `${unversioned} open turns without a version: an earlier release started them, and no worker of this release runs them; their users can cancel them`,
      );
    before = unversioned;
    const ids = [current, ...buildIds];
    return new Set(ids.flatMap((id) => (id === null || id === routedByTemporal ? [] : [id])));
  };
}

/** Zero if Temporal does not say. */
async function retentionMs({ workflowService, options }: Client): Promise<number> {
  const { config } = await workflowService.describeNamespace({ namespace: options.namespace });
  return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) * 1000;
}

type TurnWorkerParts = Dependencies & { heldCallLimit: HeldCallLimit; offeredTools?: OfferedTools };

interface Options {
  workflowBundle: WorkflowBundleOption;
  /** Absent in tests: runs turns without a version, whose workflow code is always the same. */
  versioned?: { version: Version; maxCachedWorkflows: number };
  /** Its task slots; by default those of a single worker. */
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
      activities: createActivities({ ...parts, catalogue, models: parts.models ?? createModels(config) }),
      // Reports of tools in TypeScript are sealed.
      dataConverter: { payloadCodecs: [unreadableAsNull(openingCodec(parts.keys))] },
      interceptors: { activity: activityInterceptors(parts) },
      stickyQueueScheduleToStartTimeout: taskTimeouts.stickyQueue,
      // The default throttles heartbeats to 80 % of their time-out: with one late heartbeat the worker counts as dead.
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
 * Sends Temporal's own log, from warnings up, to our log, and its metrics to ours. Once per process, before any
 * connection.
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

/** Errors are logged under `err`: as another member they would be an empty object. */
export function temporalLogger(logger: Logger): DefaultLogger {
  return new DefaultLogger('WARN', ({ level, message, meta }) => {
    // A repeated call has not failed.
    const isRepeated = /^gRPC call \S+ retried /.test(message);
    const { error, activityType, attempt, workflowId, ...temporal } = meta ?? {};
    // Its message says everything.
    const why =
      error instanceof TemporalFailure ? { reason: error.message } : error !== undefined && { err: error };
    const about = {
      ...(typeof workflowId === 'string' && { ...turnOfWorkflow(workflowId), workflowId }),
      ...(activityType !== undefined && { activity: activityType, attempt }),
      ...why,
    };
    const what = typeof activityType === 'string' ? `${message}: ${activityType}` : message;
    // A failed model call has been logged, with what the provider said.
    const isLogged = activityType === 'callModel' && error instanceof TemporalFailure;
    logger[isLogged ? 'debug' : isRepeated ? 'warn' : pinoLevel(level)]({ ...about, temporal }, what);
  });
}

function pinoLevel(level: LogLevel): 'trace' | 'debug' | 'info' | 'warn' | 'error' {
  return level.toLowerCase() as Lowercase<LogLevel>;
}
