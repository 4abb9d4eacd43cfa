import { expect, test } from 'vitest';
import { errorForUser } from '../../../src/models/scripted/tool-rule.ts';
import type { AccountRefusal, CallFailure } from '../../../src/turn/call-failure.ts';
import { failureForModel } from '../../../src/turn/for-model.ts';

const server = 'Tracker';
const refusals: Record<AccountRefusal, RegExp> = {
  decline: /leave your Tracker account alone/,
  cancel: /closed the question about Tracker/,
  expired: /Nobody connected Tracker in time/,
  unsupported: /cannot ask you for it from here/,
  'no-user': /caller is a service/,
  'too-many-open': /cannot ask you for it from here/,
  'too-many-in-turn': /cannot ask you for it from here/,
  'too-many-in-tenant': /cannot ask you for it from here/,
  'still-refused': /it refuses your account/,
};

test.each<[CallFailure, RegExp]>([
  ...Object.entries(refusals).map(([why, words]): [CallFailure, RegExp] => [
    { code: 'account', why: why as AccountRefusal, server },
    words,
  ]),
  [
    { code: 'too_many_questions', limitOf: 'user', server },
    /Tracker has a question, but you have too many open/,
  ],
  [{ code: 'too_many_questions', limitOf: 'turn', server }, /Tracker has a question, but too many others/],
  [{ code: 'not_called', server }, /Tracker could not be called/],
])('%o reaches the user as a sentence to the user', (failure, words) => {
  const said = errorForUser(failureForModel(failure));
  expect(said).toMatch(words);
  expect(said).not.toMatch(/\bthe user\b|Tell|undefined/i);
});

test.each(['decline', 'cancel', 'expired', 'unsupported'] as const)(
  'after "%s" the user is told where the account can be connected all the same',
  (why) => {
    const address = 'https://a.example/connections';
    const said = errorForUser(failureForModel({ code: 'account', why, server: 'Issue Tracker', address }));
    expect(said).toContain('You can connect it at https://a.example/connections at any time.');
  },
);

test('an unknown outcome stays unknown', () => {
  const said = errorForUser(failureForModel({ code: 'unknown_outcome', server }));
  expect(said).toMatch(/Tracker never answered, so I cannot tell/);
});

test('an error of a tool is passed on in its own words', () => {
  expect(errorForUser('There is no issue #99.')).toBe('Sorry, that did not work. There is no issue #99.');
});
