import { expect, test } from 'vitest';
import { connectionMessage } from '../../src/elicitation/wording.ts';

test.each([
  ['list_issues', 'Tracker needs your account to list issues.'],
  ['createIssue', 'Tracker needs your account to create issue.'],
  ['issues.search', 'Tracker needs your account to search.'],
  [undefined, 'Tracker needs your account before its tools can be used.'],
])('the person reads what the account is needed for: %s', (tool, message) => {
  expect(connectionMessage('Tracker', 'missing', tool)).toBe(message);
});

test.each([
  ['missing', 'Tracker needs an API key of yours to list issues.'],
  ['rejected', 'Tracker refused your API key. Enter another one to list issues.'],
  [
    'insufficient_scope',
    'Your API key for Tracker lacks permissions. Enter one that has them to list issues.',
  ],
] as const)('who has to give a key is told so, and why: %s', (reason, message) => {
  expect(connectionMessage('Tracker', reason, 'list_issues', 'key')).toBe(message);
});
