import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { startLeasedLoop } from '../../src/storage/leased-loop.ts';
import type { LeasedWork } from '../../src/storage/leased-loop.ts';

const logger = pino({ level: 'silent' });

/** A loop over items that are taken from a list, each of which is under way until the test ends it. */
function loopOver(items: string[], options: Partial<LeasedWork<string>> = {}) {
  const begun: { item: string; signal: AbortSignal; end: () => void }[] = [];
  const ended: string[] = [];
  let changed = Promise.withResolvers<void>();
  const change = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const loop = startLeasedLoop<string>(
    {
      name: 'test',
      everyMs: 1,
      atOnce: 2,
      claim: (free) => Promise.resolve(items.splice(0, free)),
      async work(item, signal) {
        const { promise, resolve } = Promise.withResolvers<void>();
        signal.addEventListener('abort', () => resolve());
        begun.push({ item, signal, end: resolve });
        change();
        await promise;
        ended.push(item);
        if (item === 'broken') throw new Error('broken');
      },
      ...options,
    },
    logger,
  );
  return {
    items,
    begun,
    ended,
    async until(count: number) {
      while (begun.length < count) await changed.promise;
    },
    [Symbol.asyncDispose]: () => loop.stop(),
  };
}

test('no more is begun at once than there is room for, and the next when there is', async () => {
  await using loop = loopOver(['one', 'broken', 'three', 'four']);
  await loop.until(2);
  await delay(20);
  expect(loop.begun.map(({ item }) => item)).toEqual(['one', 'broken']);
  loop.begun[1]?.end();
  await loop.until(3);
  expect(loop.begun.at(-1)?.item).toBe('three');
  loop.items.push('five');
  for (const { end } of loop.begun) end();
  await loop.until(5);
});

test('a claim that fails is made again', async () => {
  let isBroken = true;
  await using loop = loopOver([], {
    claim: () => {
      if (!isBroken) return Promise.resolve(['one']);
      isBroken = false;
      return Promise.reject(new Error('the database is away'));
    },
  });
  await loop.until(1);
});

test('stopping aborts what is under way, and waits for it', async () => {
  const loop = loopOver(['one', 'two']);
  await loop.until(2);
  await loop[Symbol.asyncDispose]();
  expect(loop.ended).toEqual(['one', 'two']);
});

test('what is not worth it any more is aborted, the rest goes on', async () => {
  await using loop = loopOver(['one', 'two'], {
    renew: { everyMs: 1, claims: (underWay) => Promise.resolve(new Set(underWay.slice(1))) },
    claim: (() => {
      const items = [['one', 'two']];
      return () => Promise.resolve(items.pop() ?? []);
    })(),
  });
  await loop.until(2);
  const first = loop.begun[0]?.signal;
  if (!first?.aborted) await new Promise((resolve) => first?.addEventListener('abort', resolve));
  expect(loop.begun.map(({ signal }) => signal.aborted)).toEqual([true, false]);
});
