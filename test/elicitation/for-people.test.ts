/** What people read of a failed tool call is written to them, and not about them. */
import { expect, test } from 'vitest';
import { forPeople } from '../../src/elicitation/for-people.ts';
import { refusalForModel, unknownOutcomeForModel } from '../../src/elicitation/wording.ts';

test.each([
  [
    refusalForModel('decline', 'Tracker'),
    'You were asked to connect your Tracker account and chose not to. The tool did not run.',
  ],
  [
    refusalForModel('cancel', 'Tracker'),
    'You were asked to connect your Tracker account and dismissed the question without deciding. The tool did not run. You can try again later.',
  ],
  [
    refusalForModel('expired', 'Tracker'),
    'You were asked to connect your Tracker account, but nobody answered before the question expired. The tool did not run. It timed out and you can ask again.',
  ],
  [
    refusalForModel('still-refused', 'Tracker'),
    'You connected your Tracker account, but Tracker still refuses it. The tool did not run. Check that the account may do this, instead of asking again.',
  ],
  [
    unknownOutcomeForModel('Tracker'),
    'Tracker was called, but its answer never arrived, so it is unknown whether the action took place. It was not repeated. Check the state in Tracker before trying again.',
  ],
  [
    'Files (this machine) cannot be started: command not found: npx. The operator should install it, or correct the command in the agents file. The tool did not run.',
    'Files (this machine) cannot be started: command not found: npx. The tool did not run.',
  ],
  [
    'The user 42 does not exist. Their folder is empty.',
    'The user 42 does not exist. Their folder is empty.',
  ],
  ['The operator was not found.', 'The operator was not found.'],
])('%s', (text, expected) => {
  expect(forPeople(text)).toBe(expected);
});

test.each(['decline', 'cancel', 'expired'] as const)(
  'who refused (%s) reads where to connect it',
  (refusal) => {
    const text = forPeople(refusalForModel(refusal, 'Tracker', 'https://a.example/connections'));
    expect(text).toContain('You can connect it at any time at https://a.example/connections.');
    expect(text).not.toMatch(/the user|Respect|Offer/i);
  },
);

test('who could not be asked reads where to connect it', () => {
  expect(forPeople(refusalForModel('unsupported', 'Tracker', 'https://a.example/connections'))).toContain(
    'Connect Tracker at https://a.example/connections, then to try again.',
  );
});

test('of no refusal is anything left that is meant for the model', () => {
  const refusals = [
    ...(['decline', 'cancel', 'expired', 'unsupported', 'no-user'] as const),
    ...(['too-many-open', 'question-too-many', 'still-refused', 'failed'] as const),
    ...(['too-many-in-turn', 'question-too-many-in-turn'] as const),
  ];
  for (const refusal of refusals)
    expect(forPeople(refusalForModel(refusal, 'Tracker'))).not.toMatch(/the user|Respect|Offer/i);
});
