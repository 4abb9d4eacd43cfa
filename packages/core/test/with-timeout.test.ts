import { expect, onTestFinished, test, vi } from 'vitest';
import { withTimeout } from '../src/with-timeout.ts';

function stopClock() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
}

const never = new Promise<never>(() => {});

test('work that is done in time is what it resolves with, and no timer is left', async () => {
  stopClock();
  expect(await withTimeout(Promise.resolve('done'), 1_000, 'late')).toBe('done');
  expect(vi.getTimerCount()).toBe(0);
});

test('what is there already needs no promise', async () => {
  expect(await withTimeout('done', 1_000, 'late')).toBe('done');
});

test('work that fails in time fails it, and no timer is left', async () => {
  stopClock();
  await expect(withTimeout(Promise.reject(new Error('broken')), 1_000, 'late')).rejects.toThrow('broken');
  expect(vi.getTimerCount()).toBe(0);
});

test('work that takes too long is not waited for', async () => {
  stopClock();
  const waited = withTimeout(never, 1_000, 'late');
  await vi.advanceTimersByTimeAsync(999);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await waited).toBe('late');
});

test('work that fails too late is nobody’s business', async () => {
  const { promise, reject } = Promise.withResolvers<string>();
  expect(await withTimeout(promise, 1, 'late')).toBe('late');
  // An unhandled rejection would fail this file.
  reject(new Error('broken'));
  await new Promise((resolve) => setImmediate(resolve));
});

test('a wait keeps the process from ending, unless it is told not to', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
  const before = timers();
  const kept = withTimeout(never, 50, 'late');
  expect(timers()).toBe(before + 1);
  const left = withTimeout(never, 50, 'late', { ref: false });
  expect(timers()).toBe(before + 1);
  expect(await Promise.all([kept, left])).toEqual(['late', 'late']);
});
