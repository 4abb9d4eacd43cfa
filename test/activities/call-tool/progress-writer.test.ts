import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createProgressWriter } from '../../../src/activities/progress.ts';
import type { CallProgress } from '../../../src/remote/remote-servers.ts';

/** Collects what is written; `nth` resolves when so many are there. */
function log() {
  const written: number[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  return {
    written,
    nth: (count: number) => new Promise<void>((resolve) => waiting.push({ count, resolve })),
    write({ progress }: CallProgress) {
      written.push(progress);
      for (const one of waiting) if (written.length >= one.count) one.resolve();
      return Promise.resolve();
    },
  };
}

test('the first notice is written at once, and of those that follow in a moment only the newest', async () => {
  const { written, nth, write } = log();
  const writer = createProgressWriter(write, { everyMs: 20 });
  const second = nth(2);
  for (const progress of [1, 2, 3, 4]) writer.note({ progress });
  await Promise.resolve();
  expect(written).toEqual([1]);
  await second;
  expect(written).toEqual([1, 4]);
  await writer.rest();
});

test('the last notice is never lost, however soon the call is over', async () => {
  const { written, write } = log();
  const writer = createProgressWriter(write, { everyMs: 60_000 });
  for (const progress of [1, 2, 3]) writer.note({ progress });
  await writer.rest();
  expect(written).toEqual([1, 3]);
  writer.note({ progress: 4 });
  await writer.rest();
  expect(written).toEqual([1, 3]);
});

test('notices that do not grow are left out', async () => {
  const { written, write } = log();
  const writer = createProgressWriter(write, { everyMs: 0 });
  for (const progress of [5, 5, 4, Number.NaN]) writer.note({ progress });
  await writer.rest();
  expect(written).toEqual([5]);
});

test('a slow database gets one write at a time, in order', async () => {
  const underWay: number[] = [];
  let most = 0;
  const written: number[] = [];
  const writer = createProgressWriter(
    async ({ progress }) => {
      underWay.push(progress);
      most = Math.max(most, underWay.length);
      await sleep(5);
      underWay.pop();
      written.push(progress);
    },
    { everyMs: 1 },
  );
  for (let progress = 1; progress <= 20; progress++) {
    writer.note({ progress });
    await sleep(1);
  }
  await writer.rest();
  expect(most).toBe(1);
  expect(written.at(-1)).toBe(20);
  expect(written).toEqual([...written].sort((one, other) => one - other));
});
