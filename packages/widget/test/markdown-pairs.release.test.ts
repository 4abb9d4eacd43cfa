import { expect, test } from 'vitest';
import { pieces, repeated, slowestOf } from './hostile-markdown.ts';

test('text is read within a second, whatever piece it repeats', { timeout: 120_000 }, () => {
  expect(slowestOf(repeated(pieces))).toSatisfy(({ ms }: { ms: number }) => ms < 1_000);
});

test('text is read within a second, whatever two pieces it repeats', { timeout: 300_000 }, () => {
  const pairs = pieces.flatMap((one) => pieces.map((other) => one + other));
  expect(slowestOf(repeated(pairs))).toSatisfy(({ ms }: { ms: number }) => ms < 1_000);
});
