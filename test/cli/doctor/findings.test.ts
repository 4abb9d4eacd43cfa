import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { diskFinding } from '../../../src/cli/doctor/check-surroundings.ts';
import { problemOf, problems } from '../../../src/cli/doctor/findings.ts';

test('the page has each finding, with its level and remedy, in order', () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/doctor.md'), 'utf8');
  const rows = page.split('\n').flatMap((line) => {
    const [, code, level, , remedy] = line.split(/ ?\| ?/);
    return code?.startsWith('`') && level !== undefined && ['error', 'warning'].includes(level)
      ? [[code.slice(1, -1), { level, remedy }]]
      : [];
  });
  expect(rows).toEqual(Object.entries(problems));
});

test('a message with its own remedy is taken apart', () => {
  expect(problemOf('keys-wrong', 'it lacks the key "k1"; put it back; then wait')).toMatchObject({
    text: 'it lacks the key "k1"',
    remedy: 'put it back; then wait',
  });
  expect(problemOf('keys-wrong', 'it is wrong')).toMatchObject({ remedy: problems['keys-wrong'].remedy });
});

test('a disk is low or full', () => {
  expect(diskFinding('/data', 1e8, 1e12)).toMatchObject({ code: 'disk-full' });
  expect(diskFinding('/data', 1e9, 1e12)).toMatchObject({ code: 'disk-low' });
  expect(diskFinding('/data', 1e9, 5e9)).toMatchObject({ level: 'ok' });
});
