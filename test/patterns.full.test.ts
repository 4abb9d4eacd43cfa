/** Judges every pattern anew, those that `patterns.test.ts` takes from its list, too. */
import { expect, test } from 'vitest';
import { isSlow, strangersPatterns } from './slow-patterns.ts';

test('no text that a stranger writes makes a pattern slow', { timeout: 600_000 }, () => {
  const slow = [...strangersPatterns()].filter(([, regex]) => isSlow(regex));
  expect(slow.map(([literal, { files }]) => `${files.join()}: ${literal}`)).toEqual([]);
});
