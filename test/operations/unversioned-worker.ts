/** A worker as releases had it before turns had versions. */
import { createHeldCallLimit } from '../../src/activities/call-tool/held-call-limit.ts';
import { openDependencies } from '../../src/platform/processes/dependencies.ts';
import { runProcess } from '../../src/platform/processes/run-process.ts';
import { readTurnCode } from '../../src/platform/processes/workers/turn-code.ts';
import { createTurnWorker, installRuntime } from '../../src/platform/processes/workers/turn-workers.ts';
import { routedByTemporal } from '../../src/storage/tables/versions.ts';
import { connectWorker } from '../../src/platform/temporal/connection.ts';
import { joinWithSdk } from '../../src/platform/temporal/join-sdk.ts';

await runProcess({ service: 'interlude-worker', kind: 'worker' }, async (config, { logger, stack }) => {
  installRuntime(logger);
  const parts = await openDependencies(config, logger);
  stack.defer(() => parts.storage.close());
  const connection = await connectWorker(config.temporal);
  stack.defer(() => connection.close());
  const own = { ...parts, heldCallLimit: createHeldCallLimit(config.worker.heldCalls) };
  await parts.storage.versions.use(config.temporal.deployment.name, routedByTemporal);
  const worker = await createTurnWorker(own, connection, {
    workflowBundle: await joinWithSdk(await readTurnCode()),
  });
  const running = worker.run();
  stack.defer(async () => {
    worker.shutdown();
    await running;
  });
  logger.info(`worker ready on task queue ${config.temporal.taskQueue}, without a version`);
});
