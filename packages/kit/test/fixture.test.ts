/** Answers that were written down: which of them is taken, and what is said of a file that is wrong. */
import { describe, expect, test } from 'vitest';
import { fixtureAnswers } from '../src/answers/fixture.ts';
import type { Fixture } from '../src/answers/fixture.ts';
import { toQuestion } from '../src/answers/source.ts';
import type { Question } from '../src/answers/source.ts';

const form = (message: string, ...names: string[]): Question =>
  toQuestion({
    key: 'k',
    request: {
      mode: 'form',
      message,
      requestedSchema: {
        type: 'object',
        properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
        required: names,
      },
    },
  });
const page: Question = toQuestion({
  key: 'page',
  request: { mode: 'url', message: 'Pay', url: 'https://pay.example' },
});

async function answer(fixture: Fixture, question: Question, { tool = 'book', round = 1 } = {}) {
  const source = fixtureAnswers(fixture);
  const answers = await source.answer(
    { tool, arguments: {}, round, questions: [question] },
    { signal: new AbortController().signal },
  );
  return answers.get(question.key);
}

const city = form('Which city?', 'city');
const accept = (content: object) => ({ action: 'accept', content });

describe('is taken', () => {
  test.each<[string, Fixture, Question, object | undefined]>([
    [
      'a value for the id of a form of one field',
      { inputResponses: { k: 'Rome' } },
      city,
      accept({ city: 'Rome' }),
    ],
    ['a content for the id', { inputResponses: { k: { city: 'Rome' } } }, city, accept({ city: 'Rome' })],
    [
      'what the wire says for the id',
      { inputResponses: { k: { action: 'cancel' } } },
      city,
      { action: 'cancel' },
    ],
    ['a decline for the id', { inputResponses: { k: { decline: true } } }, city, { action: 'decline' }],
    ['a page by its id', { inputResponses: { page: true } }, page, { action: 'accept' }],
    [
      'words of the message, in any case',
      { questions: [{ message: 'WHICH', accept: { city: 'Oslo' } }] },
      city,
      accept({ city: 'Oslo' }),
    ],
    [
      'a pattern',
      { questions: [{ message: '/^which .*\\?$/i', decline: true }] },
      city,
      { action: 'decline' },
    ],
    ['the name of a field', { questions: [{ field: 'city', cancel: true }] }, city, { action: 'cancel' }],
    ['the mode', { questions: [{ mode: 'url', accept: true }] }, page, { action: 'accept' }],
    ['the fields of the form', { fields: { city: 'Rome', other: 1 } }, city, accept({ city: 'Rome' })],
    [
      'the tool before what is for all',
      { fields: { city: 'Rome' }, tools: { book: { fields: { city: 'Oslo' } } } },
      city,
      accept({ city: 'Oslo' }),
    ],
    [
      'the first of several',
      { tools: { book: [{ decline: true }, { cancel: true }] } },
      city,
      { action: 'decline' },
    ],
    ['nothing of another tool', { tools: { pay: [{ decline: true }] } }, city, undefined],
    [
      'nothing where a required field is missing',
      { fields: { city: 'Rome' } },
      form('Trip?', 'city', 'day'),
      undefined,
    ],
  ])('%s', async (_, fixture, question, expected) => {
    expect(await answer(fixture, question)).toEqual(expected);
  });

  test.each([
    [2, [2]],
    ['>1', [2, 3, 4]],
    ['<= 2', [1, 2]],
    ['2-3', [2, 3]],
  ])('in round %s only', async (round, expected) => {
    const taken = [];
    for (const at of [1, 2, 3, 4])
      if (await answer({ questions: [{ round, decline: true }] }, city, { round: at })) taken.push(at);
    expect(taken).toEqual(expected);
  });
});

test.each<[string, object, string]>([
  [
    'a word that there is not',
    { questions: [{ mesage: 'x', decline: true }] },
    'questions.0: there is no "mesage"',
  ],
  [
    'two decisions',
    { tools: { a: [{ decline: true, cancel: true }] } },
    'exactly one of accept, decline and cancel',
  ],
  [
    'a duration that is none',
    { questions: [{ decline: true, delay: 'soon' }] },
    'questions.0.delay: is no duration',
  ],
  [
    'a round that is none',
    { questions: [{ decline: true, round: 'last' }] },
    'questions.0.round: is no round',
  ],
  [
    'a pattern that is none',
    { questions: [{ decline: true, message: '/(/' }] },
    'message: /(/ is no pattern',
  ],
])('a file with %s is refused, and says where', (_, fixture, words) => {
  expect(() => fixtureAnswers(fixture as Fixture)).toThrow(words);
});

test('a single value for a form of several fields is refused when it is asked', async () => {
  await expect(answer({ inputResponses: { k: 'Rome' } }, form('Trip?', 'city', 'day'))).rejects.toThrow(
    'has 2 fields',
  );
});
