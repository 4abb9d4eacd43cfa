import { expect, test } from 'vitest';
import { mergeDeltas, remainder } from '../../../src/storage/log/merged-deltas.ts';
import type { TurnEvent } from '../../../src/turn/event.ts';

function log(...events: TurnEvent[]) {
  return events.map((event, index) => ({ seq: index + 1, event }));
}

const delta = (said: string, id = '0'): TurnEvent => ({ type: 'text-delta', id, delta: said });

test('a run of deltas becomes its last row, which remembers where the parts ended', () => {
  expect(mergeDeltas(log(delta('a'), delta('bc'), delta('def')))).toEqual({
    replaced: [
      {
        seq: 3,
        event: {
          type: 'text-delta',
          id: '0',
          delta: 'abcdef',
          parts: [
            [1, 1],
            [2, 2],
            [3, 3],
          ],
        },
      },
    ],
    removed: [1, 2],
  });
});

test('any other event ends a run, so that no text changes its place', () => {
  const entries = log(
    delta('a'),
    { type: 'text-end', id: '0' },
    delta('b'),
    { type: 'reset-step', step: 1 },
    delta('c'),
  );
  expect(mergeDeltas(entries)).toEqual({ replaced: [], removed: [] });
});

test('deltas of another part end a run, and kinds of text are not mixed', () => {
  const entries = log(
    delta('a'),
    delta('x', '1'),
    delta('b'),
    { type: 'reasoning-delta', id: '0', delta: 'r' },
    delta('c'),
    delta('d'),
  );
  const { replaced, removed } = mergeDeltas(entries);
  expect(replaced.map(({ seq, event }) => [seq, event.delta])).toEqual([[6, 'cd']]);
  expect(removed).toEqual([5]);
});

test('an entry of another turn in between ends a run', () => {
  const entries = [1, 2, 4, 5].map((seq) => ({ seq, event: delta(`${seq}`) }));
  expect(mergeDeltas(entries)).toMatchObject({
    replaced: [
      { seq: 2, event: { delta: '12' } },
      { seq: 5, event: { delta: '45' } },
    ],
    removed: [1, 4],
  });
});

test('a merged row that grows again keeps the parts it had', () => {
  const [first] = mergeDeltas(log(delta('a'), delta('b'))).replaced;
  const { replaced } = mergeDeltas([first!, { seq: 3, event: delta('cd') }]);
  expect(replaced[0]?.event.parts).toEqual([
    [1, 1],
    [2, 1],
    [3, 2],
  ]);
  expect([0, 1, 2, 3].map((after) => remainder(replaced[0]!.event, after))).toEqual(
    ['abcd', 'bcd', 'cd', ''].map((said) => delta(said)),
  );
});
