/** Code of turns that never gives its thread back: its worker fails, which ends its process, instead of standing still. */
import { randomUUID } from 'node:crypto';
import { bundleWorkflowCode, NativeConnection } from '@temporalio/worker';
import { afterAll, test, vi } from 'vitest';
import { createHeldCallLimit } from '../../../src/activities/call-tool/held-call-limit.ts';
import type { Dependencies } from '../../../src/platform/processes/dependencies.ts';
import { createTurnWorker } from '../../../src/platform/processes/workers/turn-workers.ts';
import { useService } from '../../service/use-service.ts';

// With threads, as in production.
vi.stubEnv('TEMPORAL_DEBUG', undefined);
afterAll(() => vi.unstubAllEnvs());

let parts: Dependencies;
const { temporal } = useService({ startWorkers: async (given) => void (parts = given) });

test.concurrent.for(['loop', 'loopOfPromises'])(
  'a worker whose turn runs a %s fails',
  { timeout: 120_000 },
  async (workflow, { expect, onTestFinished }) => {
    const bundle = await bundleWorkflowCode({
      workflowsPath: new URL('./fixtures/looping-turns.ts', import.meta.url).pathname,
    });
    const connection = await NativeConnection.connect({ address: temporal.address });
    onTestFinished(() => connection.close());
    const taskQueue = randomUUID();
    const config = { ...parts.config, temporal: { ...parts.config.temporal, taskQueue } };
    const own = { ...parts, config, heldCallLimit: createHeldCallLimit(1) };
    const worker = await createTurnWorker(own, connection, { workflowBundle: bundle });
    const running = worker.run();
    const looping = await temporal.client.workflow.start(workflow, { taskQueue, workflowId: randomUUID() });
    onTestFinished(async () => void (await looping.terminate()));
    await expect(running).rejects.toThrow();
  },
);
