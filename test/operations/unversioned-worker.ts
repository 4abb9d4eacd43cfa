/** A worker as releases had it before turns had versions. */
import { createHeldCallLimit } from '../../src/activities/call-tool/held-call-limit.ts';
import { openDependencies } from '../../src/processes/dependencies.ts';
import { runProcess } from '../../src/processes/run-process.ts';
import { createTurnWorker, installRuntime, runWorker } from '../../src/processes/turn-worker.ts';
import { openWorkflowBundle } from '../../src/processes/workflow-bundle.ts';
import { connectWorker } from '../../src/temporal/connection.ts';

await runProcess({ isReadable: false }, async (config, logger, stack) => {
  installRuntime(logger);
  const parts = await openDependencies(config, logger);
  stack.defer(() => parts.storage.close());
  const connection = await connectWorker(config.temporal);
  stack.defer(() => connection.close());
  const own = { ...parts, heldCallLimit: createHeldCallLimit(config.worker.heldCalls) };
  runWorker(await createTurnWorker(own, connection, await openWorkflowBundle()), own, stack);
  logger.info(`worker ready on task queue ${config.temporal.taskQueue}, without a version`);
});
