/** What the SDK is kept from doing in the threads of turns; it is not made to be configured, so a new version may do otherwise. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker as Thread } from 'node:worker_threads';
import { Worker } from '@temporalio/worker';
import { WorkerThreadClient } from '@temporalio/worker/lib/workflow/threaded-vm.js';
import { afterEach, expect, test, vi } from 'vitest';
import { lightenWorkflowThreads } from '../../../src/platform/temporal/workflow-threads.ts';
import { useDevelopmentServer } from '../../service/use-development-server.ts';
import { workflowBundle } from '../../workflow-bundle.ts';

const temporal = useDevelopmentServer();

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test.each([
  ['turns', true, { thread: 'LightThread', limitMs: undefined }],
  ['tools', false, { thread: 'Worker', limitMs: 5_000 }],
])('the threads of %s, with a shared context: %s', async (_, reuseV8Context, expected) => {
  // Otherwise workflows run in the thread of the test.
  vi.stubEnv('TEMPORAL_DEBUG', undefined);
  const sent = vi.spyOn(WorkerThreadClient.prototype, 'send');
  lightenWorkflowThreads();
  const worker = await Worker.create({
    connection: temporal.connection,
    taskQueue: randomUUID(),
    workflowBundle: await workflowBundle(),
    reuseV8Context,
  });
  await worker.runUntil(Promise.resolve());
  const clients = sent.mock.contexts as unknown as { workerThread: Thread }[];
  expect(new Set(clients.map(({ workerThread }) => workerThread.constructor.name))).toEqual(
    new Set([expected.thread]),
  );
  const limits = sent.mock.calls.flatMap(([input]) =>
    input.type === 'init' ? [input.isolateExecutionTimeoutMs] : [],
  );
  expect(new Set<unknown>(limits)).toEqual(new Set([expected.limitMs]));
});

test('the thread of turns hears of no promise', async () => {
  const file = new URL('../../../src/platform/temporal/workflow-thread.ts', import.meta.url);
  const counting = new URL('./count-hooked-promises.ts', import.meta.url);
  const workerData = fileURLToPath(counting);
  expect(await once(new Thread(file, { workerData }), 'message')).toEqual([0]);
  const [heardOf] = (await once(new Thread(counting), 'message')) as [number];
  expect(heardOf).toBeGreaterThan(0);
});
