import { expect, test } from 'vitest';
import { refusalForModel, unknownOutcomeForModel } from '../../../src/elicitation/wording.ts';
import type { Refusal } from '../../../src/elicitation/wording.ts';
import { errorForUser } from '../../../src/models/scripted/tool-rule.ts';

const expected: Record<Refusal, RegExp> = {
  decline: /leave your Tracker account alone/,
  cancel: /closed the question about Tracker/,
  expired: /Nobody connected Tracker in time/,
  unsupported: /cannot ask you for it from here/,
  'no-user': /caller is a service/,
  'too-many-open': /cannot ask you for it from here/,
  'question-too-many': /Tracker has a question, but you have too many open/,
  'too-many-in-turn': /cannot ask you for it from here/,
  'question-too-many-in-turn': /Tracker has a question, but too many others/,
  'still-refused': /it refuses your account/,
  failed: /Tracker could not be called/,
};

test.each(Object.entries(expected))('"%s" reaches the user as a sentence to the user', (refusal, words) => {
  const said = errorForUser(refusalForModel(refusal as Refusal, 'Tracker'));
  expect(said).toMatch(words);
  expect(said).not.toMatch(/\bthe user\b|Tell|undefined/i);
});

test.each(['decline', 'cancel', 'expired', 'unsupported'] as const)(
  'after "%s" the user is told where the account can be connected all the same',
  (refusal) => {
    const said = errorForUser(refusalForModel(refusal, 'Issue Tracker', 'https://a.example/connections'));
    expect(said).toContain('You can connect it at https://a.example/connections at any time.');
  },
);

test('an unknown outcome stays unknown', () => {
  expect(errorForUser(unknownOutcomeForModel('Tracker'))).toMatch(/Tracker never answered, so I cannot tell/);
});

test('an error of a tool is passed on in its own words', () => {
  expect(errorForUser('There is no issue #99.')).toBe('Sorry, that did not work. There is no issue #99.');
});
