import { pino } from 'pino';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import type { Worker, WorkerStatus } from '@temporalio/worker';
import { createHeldCallLimit } from '../../src/activities/call-tool/held-call-limit.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { runWorker } from '../../src/processes/turn-worker.ts';

const exit = vi.spyOn(process, 'exit');
beforeEach(() => void exit.mockReset().mockReturnValue(undefined as never));
afterAll(() => exit.mockRestore());

/** What the process does that runs it, in order. */
function run() {
  const over = Promise.withResolvers<void>();
  const lines: string[] = [];
  const logger = pino(
    { formatters: { level: (level) => ({ level }) } },
    { write: (line) => void lines.push((JSON.parse(line) as { level: string }).level) },
  );
  const worker: Pick<Worker, 'run' | 'getStatus' | 'getState' | 'shutdown'> = {
    run: () => over.promise,
    getStatus: () => ({ numInFlightActivities: 1 }) as WorkerStatus,
    getState: () => 'RUNNING',
    // As at the end of `shutdownForceTime`.
    shutdown: () => over.reject(new Error('Timed out while waiting for worker to shutdown gracefully')),
  };
  const stack = new AsyncDisposableStack();
  stack.defer(() => void lines.push('the rest is closed'));
  const parts = { logger, config: loadConfig({}, process.cwd()), heldCallLimit: createHeldCallLimit(1) };
  runWorker(worker, parts, stack);
  return { lines, stack, fail: () => over.reject(new Error('it broke')) };
}

test('a worker that does not stop in time keeps nothing else from being closed', async () => {
  const { lines, stack } = run();
  await stack.disposeAsync();
  expect(lines).toEqual(['info', 'error', 'the rest is closed']);
  expect(exit).not.toHaveBeenCalled();
});

test('a worker that fails ends the process', async () => {
  const { lines, fail } = run();
  fail();
  await expect.poll(() => exit.mock.calls).toEqual([[1]]);
  expect(lines).toEqual(['fatal']);
});
