import { describe, expect, test } from 'vitest';
import { readRequestedSchema } from '../../src/elicitation/requested-schema.ts';
import type { Field } from '../../src/elicitation/requested-schema.ts';
import { contentOf, emptyDraft, problemsFrom, problemsIn } from '../../src/widget/form-draft.ts';
import { wordsFor } from '../../src/widget/words.ts';

const words = wordsFor('en');

function fieldsOf(properties: Record<string, unknown>, required: string[] = []): Field[] {
  const read = readRequestedSchema({ type: 'object', properties, required });
  if (read.kind !== 'form') throw new Error(read.reason);
  return read.fields;
}

const everyKind = fieldsOf(
  {
    name: { type: 'string', minLength: 2, maxLength: 5 },
    mail: { type: 'string', format: 'email', default: 'a@b.example' },
    when: { type: 'string', format: 'date-time' },
    seats: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
    price: { type: 'number' },
    hold: { type: 'boolean', default: true },
    class: { type: 'string', enum: ['economy', 'business'] },
    extras: { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, minItems: 1, maxItems: 2 },
  },
  ['name', 'seats', 'extras'],
);

test('a new form holds its defaults, and nothing else', () => {
  expect(emptyDraft(everyKind)).toEqual({
    name: '',
    mail: 'a@b.example',
    when: '',
    seats: '2',
    price: '',
    hold: true,
    class: '',
    extras: [],
  });
});

test('what was filled in is sent as the fields mean it, and what was left alone is not', () => {
  const draft = {
    ...emptyDraft(everyKind),
    name: 'Ada',
    seats: '3',
    extras: ['a'],
    when: '2026-11-22T10:30',
  };
  expect(contentOf(everyKind, draft)).toEqual({
    name: 'Ada',
    mail: 'a@b.example',
    when: new Date('2026-11-22T10:30').toISOString(),
    seats: 3,
    hold: true,
    extras: ['a'],
  });
});

test('a time of the form stands in the reader’s own time, and goes back as it came', () => {
  const fields = fieldsOf({ when: { type: 'string', format: 'date-time', default: '2026-11-22T10:30:00Z' } });
  expect(contentOf(fields, emptyDraft(fields))).toEqual({ when: '2026-11-22T10:30:00.000Z' });
});

describe('problems that need no service', () => {
  const problem = (name: string, entry: string | boolean | string[]) =>
    problemsIn(everyKind, { ...emptyDraft(everyKind), name: 'Ada', extras: ['a'], [name]: entry }, words)[
      name
    ];

  test.each([
    ['name', '', words.required],
    ['name', 'A', words.tooShort(2)],
    ['name', '👩‍👩‍👧‍👦x', words.tooLong(5)],
    ['name', 'Ada L', undefined],
    ['seats', '', words.required],
    ['seats', 'two', words.notANumber],
    ['seats', '2.5', words.wholeNumber],
    ['seats', '0', words.atLeast(1)],
    ['seats', '10', words.atMost(9)],
    ['price', '', undefined],
    ['price', 'x', words.notANumber],
    ['extras', [], words.chooseAtLeast(1)],
    ['extras', ['a', 'b', 'c'], words.chooseAtMost(2)],
    ['class', '', undefined],
    ['hold', false, undefined],
  ])('%s with %j: %s', (name, entry, expected) => expect(problem(name, entry)).toBe(expected));
});

test.each(['email', 'uri', 'date', 'date-time'])(
  'a required %s that is empty is said to be missing',
  (format) => {
    const fields = fieldsOf({ it: { type: 'string', format } }, ['it']);
    expect(problemsIn(fields, emptyDraft(fields), words)).toEqual({ it: words.required });
  },
);

describe('problems that the service has', () => {
  test('are put to their fields, the first of each', () => {
    const errors = [
      { pointer: '/content/name', detail: 'first' },
      { pointer: '/content/name', detail: 'second' },
      { pointer: '/content/extras/0', detail: 'third' },
    ];
    expect(problemsFrom(errors, everyKind)).toEqual({ name: 'first', extras: 'third' });
  });

  test('are no problem of a field when one is about none', () => {
    expect(problemsFrom([], everyKind)).toBeNull();
    expect(problemsFrom([{ pointer: '/action', detail: 'x' }], everyKind)).toBeNull();
  });

  test('find fields with slashes and tildes in their names', () => {
    const fields = fieldsOf({ 'a/b~c': { type: 'string' } });
    expect(problemsFrom([{ pointer: '/content/a~1b~0c', detail: 'x' }], fields)).toEqual({ 'a/b~c': 'x' });
  });
});
