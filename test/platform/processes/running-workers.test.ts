import { pino } from 'pino';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import type { Worker, WorkerStatus } from '@temporalio/worker';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import { createRunningWorkers } from '../../../src/platform/processes/workers/running-workers.ts';

const onOwnFailure = vi.fn<(code: { id: string }, error: unknown) => void>();
beforeEach(() => void onOwnFailure.mockReset());
afterAll(() => onOwnFailure.mockReset());

/** Workers whose end the test decides: no real one fails at a given moment. */
function start() {
  const over = Promise.withResolvers<void>();
  const worker = {
    run: () => over.promise,
    getStatus: () => ({ numInFlightActivities: 1 }) as WorkerStatus,
    getState: () => 'RUNNING',
    // As at the end of `shutdownForceTime`.
    shutdown: () => over.reject(new Error('Timed out while waiting for worker to shutdown gracefully')),
  } as unknown as Worker;
  const own = [{ id: 'one', kind: 'turns' as const }];
  const workers = createRunningWorkers({
    config: loadConfig({}, process.cwd()),
    logger: pino({ level: 'silent' }),
    own,
    create: async () => ({ worker }),
    onOwnFailure,
  });
  return { workers, fail: () => over.reject(new Error('it broke')) };
}

test('a worker that does not stop in time does not keep the process from stopping', async () => {
  const { workers } = start();
  await workers.runOwn();
  expect(workers.inFlight()).toBe(1);
  await workers.stop();
  expect(workers.ids()).toEqual([]);
  expect(onOwnFailure).not.toHaveBeenCalled();
});

test('the failure of a worker is reported with its error', async () => {
  const { workers, fail } = start();
  await workers.runOwn();
  fail();
  await expect
    .poll(() => onOwnFailure.mock.calls)
    .toEqual([[{ id: 'one', kind: 'turns' }, new Error('it broke')]]);
});
