import { expect, test } from 'vitest';
import { questionAsText } from '../../src/elicitation/question-as-text.ts';

test('a form is its message and a line per field', () => {
  const requestedSchema = {
    type: 'object',
    properties: {
      city: { type: 'string', title: 'City', description: 'Where it takes place' },
      mail: { type: 'string', format: 'email' },
      seats: { type: 'integer', title: 'Seats', default: 2 },
      window: { type: 'boolean', title: 'Window seat' },
      class: {
        type: 'string',
        title: 'Class',
        oneOf: [
          { const: 'e', title: 'Economy' },
          { const: 'b', title: 'Business' },
        ],
      },
      meals: { type: 'array', title: 'Meals', items: { type: 'string', enum: ['fish', 'rice'] } },
    },
    required: ['city'],
  };
  expect(questionAsText({ mode: 'form', message: 'Where to?', requestedSchema })).toBe(
    [
      'Where to?',
      '- City (text; required): Where it takes place',
      '- Mail (email address; optional)',
      '- Seats (whole number; optional; if left out: 2)',
      '- Window seat (yes or no; optional)',
      '- Class (one of Economy / Business; optional)',
      '- Meals (any of fish / rice; optional)',
    ].join('\n'),
  );
});

test('a link is its message and its address', () => {
  expect(questionAsText({ mode: 'url', message: 'Pay here.', url: 'https://pay.example/1' })).toBe(
    'Pay here.\nhttps://pay.example/1',
  );
});

test('what nobody would answer in a sentence is counted', () => {
  const many = (count: number, name: string) =>
    Array.from({ length: count }, (_, index) => `${name}${index}`);
  const properties = Object.fromEntries(many(24, 'field').map((name) => [name, { type: 'string' }]));
  const text = questionAsText({
    mode: 'form',
    message: 'All of it?',
    requestedSchema: { type: 'object', properties },
  });
  expect(text.split('\n')).toHaveLength(22);
  expect(text).toContain('(and 4 more)');
  const choice = { type: 'object', properties: { x: { type: 'string', enum: many(30, 'v') } } };
  expect(questionAsText({ mode: 'form', message: 'Which?', requestedSchema: choice })).toContain('v19 / …');
});
