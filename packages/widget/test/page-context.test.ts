import { afterEach, expect, test, vi } from 'vitest';
import { readContext } from '../src/page-context.ts';
import type { PageContext } from '../src/page-context.ts';

afterEach(() => void vi.useRealTimers());

test.each<[string, PageContext, string | undefined]>([
  ['a text', 'Order 1043', 'Order 1043'],
  ['a function', () => 'Order 1043', 'Order 1043'],
  ['a function that takes a moment', async () => 'Order 1043', 'Order 1043'],
  ['nothing to say', '', undefined],
  ['a function with nothing to say', () => null, undefined],
  ['a function that forgot to say it', () => undefined, undefined],
])('%s', async (_, context, expected) => {
  expect(await readContext(context)).toBe(expected);
});

test('what is longer than the service takes is cut, and not in the middle of a letter', async () => {
  expect(await readContext('x'.repeat(16_001))).toHaveLength(16_000);
  const cut = await readContext(`${'x'.repeat(15_999)}🪔`);
  expect(cut).toHaveLength(16_000);
  expect(cut?.isWellFormed()).toBe(true);
});

test('nobody waits longer than five seconds for it', async () => {
  vi.useFakeTimers();
  const reading = readContext(() => new Promise<string>(() => undefined));
  let isOver = false;
  void reading.then(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(4_999);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await reading).toBeUndefined();
});
