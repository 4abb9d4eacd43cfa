/** The worker process. Any number of them may run; each takes turns from the task queue. */
import { openDependencies } from './dependencies.ts';
import { watchOwnInstallation } from './own-installation.ts';
import { runProcess } from './run-process.ts';
import { requireNamespace } from '../temporal/namespace.ts';
import { connectWorker } from '../temporal/connection.ts';
import { openAgentBundles } from '../tool-bundles/open-agent-bundles.ts';
import { startWorker } from './start-worker.ts';
import { readTurnCode } from './workers/turn-code.ts';
import { installRuntime } from './workers/turn-worker.ts';

export async function runWorkerProcess(): Promise<void> {
  await runProcess({ isReadable: false }, async (config, logger, stack, stopping) => {
    installRuntime(logger);
    const opened = await openDependencies(config, logger);
    stack.defer(() => opened.storage.close());
    const installation = await watchOwnInstallation(opened, stack);
    const parts = { ...opened, installation };
    const [connection, code, tools] = await Promise.all([
      connectWorker(config.temporal),
      readTurnCode(config.temporal.deployment),
      openAgentBundles(config),
    ]);
    stack.defer(() => connection.close());
    await requireNamespace(connection, config.temporal.namespace);
    // Until then it polls nothing.
    await installation.untilTogether(stopping);
    await startWorker(parts, { connection, code, tools, isAlone: false }, stack);
    logger.info(`worker ready on task queue ${config.temporal.taskQueue}, version ${code.buildId}`);
  });
}
