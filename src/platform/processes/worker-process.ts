/** The worker process. Any number may run; each takes turns from the task queue. */
import type { NativeConnection } from '@temporalio/worker';
import {
  createReadiness,
  databaseChecks,
  installationCheck,
  temporalCheck,
} from '../../service/readiness.ts';
import type { Check, Readiness } from '../../service/readiness.ts';
import { queryDeadlineMs, createTemporalReadiness } from '../../service/temporal-calls.ts';
import { watchFigures } from '../telemetry/metrics/start-metrics.ts';
import { clientOver, connectWorker, whenTlsChanges } from '../temporal/connection.ts';
import { requireNamespace } from '../temporal/namespace.ts';
import { openAgentBundles } from '../tool-bundles/open-agent-bundles.ts';
import type { OpenedTools } from '../tool-bundles/open-agent-bundles.ts';
import { openDependencies } from './dependencies.ts';
import type { Dependencies } from './dependencies.ts';
import { logReadiness, startInternalServer } from './internal-server.ts';
import { runProcess, startWhenReachable, watchOwnInstallation } from './run-process.ts';
import { createReload } from './reload-agents.ts';
import { startWorker } from './start-worker.ts';
import type { RunningWorker } from './start-worker.ts';
import { notSeenYet } from './versions.ts';
import { readTurnCode } from './workers/turn-code.ts';
import { installRuntime } from './workers/turn-workers.ts';

/** A failure after at least this time may be caused by Temporal: the SDK's worker then gives up. */
const shortestRunMs = 30_000;

export async function runWorkerProcess(): Promise<void> {
  await runProcess(
    { service: 'interlude-worker', kind: 'worker' },
    async (config, { logger, stack, signal, metrics, onHangUp }) => {
      installRuntime(logger, metrics);
      const internal = await startInternalServer(config, stack, metrics);
      const [code, built] = await Promise.all([
        readTurnCode(config.temporal.deployment),
        openAgentBundles(config),
      ]);
      let tools: ReadonlyMap<string, OpenedTools> = built;
      let worker = Promise.withResolvers<RunningWorker>();
      /** Waits for a worker that is being started: tools that do not run would keep each from starting. */
      const offer: RunningWorker['offer'] = async (changed, agents) => {
        let taking: typeof worker;
        do {
          taking = worker;
          await (await taking.promise).offer(changed, agents);
        } while (taking !== worker);
        tools = changed;
      };
      onHangUp(createReload({ config, logger, tools: { offered: tools, offer } }).reload);
      const { namespace, taskQueue } = config.temporal;
      let running = new AsyncDisposableStack();
      /** Replaced workers that finish their work. */
      const leaving = new Set<Promise<void>>();
      let starting: Promise<void> | undefined;

      /** The SDK's worker gives up when Temporal refuses the login for a minute, and reads certificates only once. */
      function startAgain(why: string): void {
        if (starting || signal.aborted) return;
        logger.warn(`the worker is started again: ${why}`);
        worker = Promise.withResolvers();
        const left = running
          .disposeAsync()
          .catch((error: unknown) => logger.warn({ err: error }, 'the worker before could not end in order'))
          .finally(() => leaving.delete(left));
        leaving.add(left);
        starting = run()
          .catch((error: unknown) => {
            if (signal.aborted) return;
            logger.fatal({ err: error }, 'the worker stopped');
            process.exit(1);
          })
          .finally(() => (starting = undefined));
      }

      async function start(attempt: AsyncDisposableStack): Promise<void> {
        const { resolve } = worker;
        const opened = await openDependencies(config, logger);
        attempt.defer(() => opened.storage.close());
        attempt.defer(watchFigures(opened.storage));
        const installation = await watchOwnInstallation(opened, attempt);
        const parts = { ...opened, installation };
        const connection = await connectWorker(config.temporal);
        attempt.defer(() => connection.close());
        await requireNamespace(connection, namespace);
        let versionLack: RunningWorker['versionLack'] = () => notSeenYet;
        const readiness = workerReadiness(parts, connection, () => versionLack());
        internal.report(readiness);
        // It polls nothing until then.
        await installation.untilTogether(signal);
        const startedAt = performance.now();
        const onFailure = () => {
          // A worker that fails at once is broken, not refused.
          if (performance.now() - startedAt < shortestRunMs) return false;
          startAgain('it has failed, as when Temporal refuses the login for a minute');
          return true;
        };
        const client = clientOver(connection, config.temporal, { guard: installation.guard });
        const started = await startWorker(
          { ...parts, onFailure },
          { connection, client, code, tools, isAlone: false, signal },
          attempt,
        );
        ({ versionLack } = started);
        logger.info(`worker ready on task queue ${taskQueue}, version ${code.buildId}`);
        // A version that is not current yet is in the log already.
        const said = [versionLack()?.detail ?? []].flat();
        logReadiness(readiness, { logger, name: `worker on task queue ${taskQueue}`, said }, attempt);
        const stopWatching = whenTlsChanges(config.temporal, () => startAgain('its certificates changed'));
        attempt.defer(stopWatching);
        resolve(started);
      }

      async function run(): Promise<void> {
        running = new AsyncDisposableStack();
        await startWhenReachable(start, running, { logger, signal, internal });
      }

      stack.defer(async () => {
        await starting;
        await Promise.all([running.disposeAsync(), ...leaving]);
      });
      await run();
    },
  );
}

/** A worker that waits for older processes is ready, so that they may be stopped. */
function workerReadiness(
  { config, storage, keys, installation }: Dependencies,
  connection: NativeConnection,
  versionLack: RunningWorker['versionLack'],
): () => Promise<Readiness> {
  const client = clientOver(connection, config.temporal);
  const temporal = createTemporalReadiness(client, config.temporal, storage);
  return createReadiness([
    ...databaseChecks({ storage, keys }),
    installationCheck(installation),
    temporalCheck(() => client.withDeadline(Date.now() + queryDeadlineMs, temporal.namespace)),
    ...[false, true].map((isWarning): Check => ({
      name: 'versions',
      check: async () => {
        const lack = versionLack();
        return lack?.isOfOthers === isWarning ? lack.detail : null;
      },
      otherwise: null,
      isWarning,
    })),
  ]);
}
