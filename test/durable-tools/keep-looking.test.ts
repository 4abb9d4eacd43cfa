import { expect, test, vi } from 'vitest';
import { keepLooking } from '../../src/platform/processes/workers/code-workers.ts';

const intervals = { busyMs: 3_000, quietMs: 30_000, settledAfterMs: 60_000 };

test('a worker looks seldom once no call of other code is open, and often again when there is one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  const start = Date.now();
  const looks: number[] = [];
  let seen: 'busy' | 'quiet' = 'quiet';
  const stop = vi.fn<() => Promise<void>>(async () => undefined);
  const workers = {
    look: async () => {
      looks.push((Date.now() - start) / 1000);
      return seen;
    },
    stop,
  };
  const stack = new AsyncDisposableStack();
  await keepLooking(workers, { intervals, logger: { warn: () => undefined }, stack });
  await vi.advanceTimersByTimeAsync(120_000);
  expect(looks.filter((at) => at <= 60)).toHaveLength(21);
  expect(looks.filter((at) => at > 60)).toEqual([90, 120]);

  seen = 'busy';
  await vi.advanceTimersByTimeAsync(39_000);
  expect(looks.filter((at) => at > 120)).toEqual([150, 153, 156, 159]);

  await stack.disposeAsync();
  const { length } = looks;
  await vi.advanceTimersByTimeAsync(60_000);
  expect([looks.length, stop.mock.calls.length]).toEqual([length, 1]);
  vi.useRealTimers();
});
