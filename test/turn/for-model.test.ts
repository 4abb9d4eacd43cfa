import { expect, test } from 'vitest';
import type { AccountRefusal } from '../../src/turn/call-failure.ts';
import { failureForModel } from '../../src/turn/for-model.ts';

const refusals: AccountRefusal[] = [
  'decline',
  'cancel',
  'expired',
  'unsupported',
  'no-user',
  'too-many-open',
  'too-many-in-turn',
  'too-many-in-tenant',
  'still-refused',
];
const textOf = (why: AccountRefusal) => failureForModel({ code: 'account', why, server: 'Tracker' });

test('the model reads a different sentence for each end, and each time that the tool did not run', () => {
  const texts = [...refusals.map(textOf), failureForModel({ code: 'not_called', server: 'Tracker' })];
  expect(new Set(texts).size).toBe(texts.length);
  for (const text of texts) expect(text).toMatch(/Tracker.*The tool did not run\./);
});

test.each(['unsupported', 'too-many-open', 'too-many-in-turn', 'too-many-in-tenant'] as const)(
  '%s says that nobody was asked',
  (why) => {
    expect(textOf(why)).toContain('nobody was asked');
  },
);
