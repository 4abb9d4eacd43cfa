/** What becomes of an error of a use case in Slack. */
import { expect, test } from 'vitest';
import { refusalOf } from '../../../src/api/slack/refusals.ts';
import { ServiceError } from '../../../src/service/service-error.ts';
import { de } from '../../../src/api/slack/vocabulary/words/de.ts';
import { en } from '../../../src/api/slack/vocabulary/words/en.ts';
import type { ServiceErrorCode } from '../../../src/service/service-error.ts';

test.each<[code: ServiceErrorCode, kind: string, words: string]>([
  ['images_not_taken', 'said', 'In the words of the service.'],
  ['invalid_content', 'misfit', 'In the words of the service.'],
  ['already_answered', 'settled', 'In the words of the service.'],
  ['turn_in_progress', 'busy', 'In the words of the service.'],
  ['unavailable', 'away', 'In the words of the service.'],
  ['elicitation_not_found', 'said', 'There is no such question any more.'],
  ['not_your_question', 'said', 'This is for another person: only the person who was asked can answer it.'],
])('%s is %s', (code, kind, words) => {
  const issues = [{ path: ['content', 'city'], detail: 'is missing' }];
  const error = new ServiceError(code, 'In the words of the service.', { issues });
  expect(refusalOf(error, en)).toEqual({ kind, code, words, issues });
  const german = refusalOf(error, de);
  expect(german).toMatchObject({ kind, code, issues });
  expect(german.words).not.toMatch(/service|question|person/);
});

test('what no use case refused is nobody’s answer', () => {
  const error = new Error('a bug');
  expect(() => refusalOf(error, en)).toThrow(error);
});
