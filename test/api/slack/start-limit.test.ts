/** How often one person may begin a turn in Slack. */
import { expect, test } from 'vitest';
import { createStartLimit } from '../../../src/api/slack/messages.ts';

test('one person may begin so many turns in a minute, and others are not kept from theirs', () => {
  let now = 0;
  const mayStart = createStartLimit(2, () => now);
  expect([mayStart('alice'), mayStart('alice'), mayStart('alice'), mayStart('bob')]).toEqual([
    true,
    true,
    false,
    true,
  ]);
  now = 59_999;
  expect(mayStart('alice')).toBe(false);
  now = 60_000;
  expect(mayStart('alice')).toBe(true);
});
