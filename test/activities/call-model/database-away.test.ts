/**
 * The database is away while the model speaks, for longer than the activity is tried: the workflow runs it again as another
 * one, whose attempts Temporal counts from one. What earlier attempts left is taken back.
 */
import { expect, test } from 'vitest';
import type { Storage } from '../../../src/storage/storage.ts';
import { openModelStep, turn } from './model-step.ts';

/** What the workflow says of five attempts that were in vain. */
const repeats = { attempts: 5 };

type Writes = Partial<Pick<Storage['steps'], 'append' | 'keep'>>;

/** Writes nothing any more once so many batches of words are written. */
function awayAfter(batches: number, storage: Storage): Storage {
  let left = batches;
  const refused = () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  const writes: Writes = {
    append: (...args) => (left-- > 0 ? storage.steps.append(...args) : refused()),
    keep: refused,
  };
  return { ...storage, steps: { ...storage.steps, ...writes } };
}

test('words of an activity are taken back by the one that repeats it', async () => {
  await using it = await openModelStep(
    { kind: 'text', chunks: ['Once ', 'upon ', 'a time'] },
    { kind: 'text', chunks: ['There ', 'was ', 'a king'] },
  );
  const storage = awayAfter(1, it.storage);
  await expect(it.callModel({ storage })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(await it.story()).not.toEqual([]);
  expect(await it.callModel({ repeats })).toEqual({ finish: 'stop', toolCalls: [], hasEnded: true });
  expect(await it.story()).toEqual([
    'reset-step',
    'start-step',
    'text-start',
    'text-delta: There was a king',
    'text-end',
    'finish-step',
  ]);
  expect((await it.storage.messages.list(turn)).at(-1)?.content).toEqual([
    { type: 'text', text: 'There was a king' },
  ]);
});

test('no attempt of an activity is newer than the first of the one that repeats it', async () => {
  await using it = await openModelStep({ kind: 'status', status: 500 }, { kind: 'text', chunks: ['Yes.'] });
  await expect(it.callModel({ attempt: 2 })).rejects.toMatchObject({ type: 'ModelUnavailable' });
  await expect(it.callModel()).rejects.toMatchObject({ reason: 'newer-attempt' });
  expect(await it.callModel({ repeats })).toEqual({ finish: 'stop', toolCalls: [], hasEnded: true });
});
