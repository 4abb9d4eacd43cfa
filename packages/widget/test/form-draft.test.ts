import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readRequestedSchema } from '@interlude-ai/core/elicitation/form/requested-schema.ts';
import type { Field } from '@interlude-ai/core/elicitation/form/field.ts';
import { contentOf, emptyDraft, problemsFrom, problemsIn } from '../src/form-question.tsx';
import type { Draft, Entry } from '../src/form-question.tsx';
import { wordsFor } from '@interlude-ai/core/elicitation/words.ts';

const words = wordsFor('en');

function fieldsOf(properties: Record<string, unknown>, required: string[] = []): Field[] {
  const read = readRequestedSchema({ type: 'object', properties, required });
  if (read.kind !== 'form') throw new Error(read.reason);
  return read.fields;
}

function filledIn(fields: readonly Field[], entries: Record<string, Entry>): Draft {
  return new Map([...emptyDraft(fields), ...Object.entries(entries)]);
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
  expect(Object.fromEntries(emptyDraft(everyKind))).toEqual({
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
  const typed = { name: 'Ada', seats: '3', extras: ['a'], when: '2026-11-22T10:30' };
  expect(contentOf(everyKind, filledIn(everyKind, typed))).toEqual({
    name: 'Ada',
    mail: 'a@b.example',
    when: new Date('2026-11-22T10:30').toISOString(),
    seats: 3,
    hold: true,
    extras: ['a'],
  });
});

describe.each(['Europe/Berlin', 'Asia/Kathmandu', 'Pacific/Apia', 'America/New_York', 'UTC'])(
  'a day and a time in %s',
  (zone) => {
    beforeEach(() => vi.stubEnv('TZ', zone));
    afterEach(() => vi.unstubAllEnvs());

    test.each([
      '2026-11-22T10:30:00Z',
      '2026-11-22T10:00:30Z',
      '2026-07-02T23:59:59.123456+14:00',
      // Twice half past two, in Berlin.
      '2026-10-25T00:30:00Z',
      '2026-10-25T01:30:00Z',
      // Before there were zones.
      '1880-01-01T12:00:00Z',
      '0099-06-01T12:00:00Z',
    ])('that stands in the form goes back as it came, untouched: %s', (given) => {
      const fields = fieldsOf({ when: { type: 'string', format: 'date-time', default: given } });
      const shown = emptyDraft(fields).get('when');
      expect(shown).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/);
      expect(contentOf(fields, emptyDraft(fields))).toEqual({ when: given });
      const again = filledIn(fields, { when: '2026-01-31T08:00' });
      expect(contentOf(fields, again)).toEqual({ when: new Date('2026-01-31T08:00').toISOString() });
    });

    test.each(['2026-11-22T10:30', '1880-06-01T12:00', '0099-06-01T12:00', '9999-12-30T00:00'])(
      'that was written is the same moment, in its own year: %s',
      (typed) => {
        const fields = fieldsOf({ when: { type: 'string', format: 'date-time' } }, ['when']);
        const draft = filledIn(fields, { when: typed });
        expect(problemsIn(fields, draft, words)).toEqual(new Map());
        const { when } = contentOf(fields, draft);
        expect(Date.parse(String(when))).toBe(Date.parse(typed));
        expect(String(when).slice(0, 4)).toBe(typed.slice(0, 4));
      },
    );
  },
);

test('a time of the form stands in the reader’s own time', () => {
  vi.stubEnv('TZ', 'Europe/Berlin');
  const shown = (given: string) =>
    emptyDraft(fieldsOf({ when: { type: 'string', format: 'date-time', default: given } })).get('when');
  expect(shown('2026-07-02T10:30:00Z')).toBe('2026-07-02T12:30');
  expect(shown('2026-12-02T10:30:00Z')).toBe('2026-12-02T11:30');
  // There, it is the year 10000 already, which no input shows: and nothing is sent that nobody has seen.
  const last = fieldsOf({ when: { type: 'string', format: 'date-time', default: '9999-12-31T23:30:00Z' } });
  expect(emptyDraft(last).get('when')).toBe('');
  expect(contentOf(last, emptyDraft(last))).toEqual({});
  vi.unstubAllEnvs();
});

describe('a day or a time that is none', () => {
  const fields = fieldsOf(
    { day: { type: 'string', format: 'date' }, when: { type: 'string', format: 'date-time' } },
    ['day'],
  );
  const whole = { day: '2026-11-22', when: '2026-11-22T10:00' };

  test.each([
    { day: '20265-11-22' },
    { day: '275760-09-14' },
    { when: '20265-11-22T10:00' },
    { when: '275760-09-14T10:00' },
    { when: 'soon' },
  ])('is a problem of its field: %j', (typed) => {
    const [name = ''] = Object.keys(typed);
    const draft = filledIn(fields, { ...whole, ...typed } as Record<string, string>);
    const said = name === 'day' ? words.notADate : words.notATime;
    expect(problemsIn(fields, draft, words)).toEqual(new Map([[name, said]]));
  });

  test('is one as well when only part of it is there, which browsers call empty', () => {
    const draft = filledIn(fields, { day: '', when: '' });
    expect(problemsIn(fields, draft, words)).toEqual(new Map([['day', words.required]]));
    expect(problemsIn(fields, draft, words, new Set(['day', 'when']))).toEqual(
      new Map([
        ['day', words.notADate],
        ['when', words.notATime],
      ]),
    );
  });
});

describe('fields that are named as things of the language are', () => {
  const names = ['constructor', 'valueOf', 'toString', 'hasOwnProperty', 'prototype', 'then'];
  const text = { type: 'string', minLength: 2 };
  const fields = fieldsOf(Object.fromEntries(names.map((name) => [name, text])));

  test('are empty and in order before anybody touches them', () => {
    expect([...emptyDraft(fields)]).toEqual(names.map((name) => [name, '']));
    expect(problemsIn(fields, emptyDraft(fields), words)).toEqual(new Map());
    expect(Object.keys(contentOf(fields, emptyDraft(fields)))).toEqual([]);
  });

  test('are sent as they were filled in, and are told what is wrong with them', () => {
    const typed = Object.fromEntries(names.map((name) => [name, `my ${name}`]));
    const content = contentOf(fields, filledIn(fields, typed));
    expect(Object.entries(content)).toEqual(names.map((name) => [name, `my ${name}`]));
    const errors = names.map((name) => ({ pointer: `/content/${name}`, detail: `not ${name}` }));
    expect(problemsFrom(errors, fields, words)).toEqual(new Map(names.map((name) => [name, `not ${name}`])));
  });

  test('pollute nothing, the one that no form may have included', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string","default":"x"}}}',
    ) as unknown;
    expect(readRequestedSchema(schema)).toMatchObject({ kind: 'unsupported' });
    // Were there such a form all the same: it is a field like any other.
    const field: Field = { name: '__proto__', title: 'x', isRequired: false, kind: 'text', default: 'x' };
    const content = contentOf([field], emptyDraft([field]));
    expect(Object.getPrototypeOf(content)).toBe(Object.prototype);
    expect(JSON.stringify(content)).toBe('{"__proto__":"x"}');
    expect(problemsIn([{ ...field, minLength: 2 }], emptyDraft([field]), words)).toEqual(
      new Map([['__proto__', words.tooShort(2)]]),
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe('problems that need no service', () => {
  const problem = (name: string, entry: Entry) =>
    problemsIn(everyKind, filledIn(everyKind, { name: 'Ada', extras: ['a'], [name]: entry }), words).get(
      name,
    );

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
    expect(problemsIn(fields, emptyDraft(fields), words)).toEqual(new Map([['it', words.required]]));
  },
);

describe('problems that the service has', () => {
  test('are put to their fields, the first of each', () => {
    const errors = [
      { pointer: '/content/name', detail: 'first' },
      { pointer: '/content/name', detail: 'second' },
      { pointer: '/content/extras/0', detail: 'third' },
    ];
    expect(problemsFrom(errors, everyKind, words)).toEqual(
      new Map([
        ['name', 'first'],
        ['extras', 'third'],
      ]),
    );
  });

  test('of a pattern are in the language of the person, and without the pattern where the field is described', () => {
    const pattern = String.raw`^\d{2}:\d{2}$`;
    const described = fieldsOf({
      time: { type: 'string', pattern, description: 'Like 19:30' },
      code: { type: 'string', pattern },
    });
    const errors = ['time', 'code'].map((name) => ({ pointer: `/content/${name}`, detail: 'must match' }));
    expect(problemsFrom(errors, described, words)).toEqual(
      new Map([
        ['time', words.asDescribed],
        ['code', words.mustMatch(pattern)],
      ]),
    );
  });

  test('are no problem of a field when one is about none', () => {
    expect(problemsFrom([], everyKind, words)).toBeNull();
    expect(problemsFrom([{ pointer: '/action', detail: 'x' }], everyKind, words)).toBeNull();
  });

  test('find fields with slashes and tildes in their names', () => {
    const fields = fieldsOf({ 'a/b~c': { type: 'string' } });
    expect(problemsFrom([{ pointer: '/content/a~1b~0c', detail: 'x' }], fields, words)).toEqual(
      new Map([['a/b~c', 'x']]),
    );
  });
});
