/**
 * Every regular expression of the product is one that no text can keep busy for long. Those that were found quick
 * before are in `quick-patterns.txt`, one a line, and are not judged again here: see `patterns.full.test.ts`.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { isSlow, patternsOf, strangersPatterns } from './slow-patterns.ts';

const judged = readFileSync(path.join(import.meta.dirname, 'quick-patterns.txt'), 'utf8').split('\n');

test('no text that a stranger writes makes a pattern slow', { timeout: 120_000 }, () => {
  const patterns = strangersPatterns();
  expect(patterns.size).toBeGreaterThan(100);
  for (const literal of judged) patterns.delete(literal);
  const slow = [...patterns].filter(([, regex]) => isSlow(regex));
  expect(slow.map(([literal, { files }]) => `${files.join()}: ${literal}`)).toEqual([]);
});

test('a slow pattern is found', () => {
  const [planted] = patternsOf('planted.ts', 'export const planted = /^(?:a|a)+$/;');
  expect(planted && isSlow(planted)).toBe(true);
});
