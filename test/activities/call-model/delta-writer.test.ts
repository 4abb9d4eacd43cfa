import { expect, onTestFinished, test, vi } from 'vitest';
import { createDeltaWriter } from '../../../src/activities/call-model/delta-writer.ts';
import type { TurnEvent } from '../../../src/turn/event.ts';

const delta = (text: string, id = 'a'): TurnEvent => ({ type: 'text-delta', id, delta: text });
const start = (id = 'a'): TurnEvent => ({ type: 'text-start', id });

/** A log whose writes end when the test says so. */
function slowLog() {
  const batches: TurnEvent[][] = [];
  const writes: { done: () => void; fail: (error: Error) => void }[] = [];
  let arrived: (() => void) | undefined;
  const append = (events: TurnEvent[]) => {
    batches.push(events);
    arrived?.();
    return new Promise<void>((done, fail) => writes.push({ done, fail }));
  };
  const nextBatch = () => new Promise<void>((resolve) => (arrived = resolve));
  return { append, batches, writes, nextBatch };
}

test('the first delta is written at once, with all that came before it', async () => {
  const log = slowLog();
  const writer = createDeltaWriter(log.append, { leastMs: 60_000, mostMs: 60_000 });
  await writer.write({ type: 'start-step', step: 0 });
  await writer.write(start());
  expect(log.batches).toEqual([]);
  await writer.write(delta('Hello'));
  expect(log.batches).toEqual([[{ type: 'start-step', step: 0 }, start(), delta('Hello')]]);
});

test('deltas that come during a write are written together after it, one write at a time', async () => {
  const log = slowLog();
  const writer = createDeltaWriter(log.append, { leastMs: 0, mostMs: 0 });
  for (const word of ['one ', 'two ', 'three']) await writer.write(delta(word));
  expect(log.batches).toEqual([[delta('one ')]]);
  const next = log.nextBatch();
  log.writes[0]?.done();
  await next;
  expect(log.batches).toEqual([[delta('one ')], [delta('two three')]]);
});

test('deltas that come at the same moment, after a pause, are written together', async () => {
  const log = slowLog();
  const writer = createDeltaWriter(log.append, { leastMs: 0, mostMs: 0 });
  await writer.write(delta('one '));
  log.writes[0]?.done();
  await new Promise((resolve) => setImmediate(resolve));
  const next = log.nextBatch();
  for (const word of ['two ', 'three ', 'four']) await writer.write(delta(word));
  await next;
  expect(log.batches).toEqual([[delta('one ')], [delta('two three four')]]);
});

test('a quiet model is shown at the next pause even if nothing more comes', async () => {
  const log = slowLog();
  const writer = createDeltaWriter(log.append, { leastMs: 1, mostMs: 1 });
  const written = log.nextBatch();
  await writer.write({ type: 'start-step', step: 0 });
  await written;
  expect(log.batches).toEqual([[{ type: 'start-step', step: 0 }]]);
});

test('the slower the database, the longer text is gathered, within bounds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const log = slowLog();
  const writer = createDeltaWriter(log.append, { leastMs: 5, mostMs: 40 });
  const intervalAfter = async (writeMs: number) => {
    await vi.advanceTimersByTimeAsync(writeMs);
    await writer.write(delta('more '));
    const before = log.batches.length;
    log.writes.at(-1)?.done();
    for (let ms = writeMs; ; ms += 1) {
      await vi.advanceTimersByTimeAsync(0);
      if (log.batches.length > before) return ms;
      await vi.advanceTimersByTimeAsync(1);
    }
  };
  await writer.write(delta('one '));
  expect(await intervalAfter(0)).toBe(5);
  expect(await intervalAfter(2)).toBe(8);
  expect(await intervalAfter(8)).toBe(32);
  expect(await intervalAfter(20)).toBe(40);
  expect(await intervalAfter(90)).toBe(90);
});

test('the first delta of every part is urgent, and parts are never mixed', async () => {
  const log = slowLog();
  const writer = createDeltaWriter(log.append, { leastMs: 60_000, mostMs: 60_000 });
  await writer.write(delta('thinking', 'a'));
  await writer.write(delta(' more', 'a'));
  await writer.write(delta('answer', 'b'));
  const next = log.nextBatch();
  log.writes[0]?.done();
  await next;
  expect(log.batches[1]).toEqual([delta(' more', 'a'), delta('answer', 'b')]);
});

test('what is left over is handed back after the write under way, and nothing is written later', async () => {
  const log = slowLog();
  const writer = createDeltaWriter(log.append, { leastMs: 60_000, mostMs: 60_000 });
  await writer.write(delta('one '));
  await writer.write(delta('two'));
  const rest = writer.rest();
  log.writes[0]?.done();
  expect(await rest).toEqual([delta('two')]);
  expect(log.batches).toHaveLength(1);
});

test('nothing is lost or reordered, whatever the pace of model and database', async () => {
  const batches: TurnEvent[][] = [];
  const append = async (events: TurnEvent[]) => {
    batches.push(events);
    if (batches.length % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
  };
  const writer = createDeltaWriter(append, { leastMs: 1, mostMs: 1 });
  const words = Array.from({ length: 500 }, (_, index) => `${index} `);
  for (const [index, word] of words.entries()) {
    await writer.write(delta(word));
    if (index % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  }
  batches.push(await writer.rest());
  const text = batches.flat().map((event) => (event.type === 'text-delta' ? event.delta : '?'));
  expect(text.join('')).toBe(words.join(''));
  expect(batches.length).toBeGreaterThan(2);
  expect(batches.length).toBeLessThan(words.length / 2);
});

test('the model waits while too much is unwritten', async () => {
  const log = slowLog();
  const writer = createDeltaWriter(log.append, { leastMs: 0, mostMs: 0, bound: 10 });
  await writer.write(delta('x'));
  let accepted = false;
  const full = writer.write(delta('y'.repeat(11))).then(() => (accepted = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(accepted).toBe(false);
  log.writes[0]?.done();
  await full;
  expect(accepted).toBe(true);
});

test('a failed write is reported to whoever writes next, and to the end', async () => {
  const log = slowLog();
  const writer = createDeltaWriter(log.append, { leastMs: 0, mostMs: 0 });
  await writer.write(delta('x'));
  log.writes[0]?.fail(new Error('disk full'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(writer.failed.aborted).toBe(true);
  await expect(writer.write(delta('y'))).rejects.toThrow('disk full');
  await expect(writer.rest()).rejects.toThrow('disk full');
  expect(log.batches).toHaveLength(1);
});
