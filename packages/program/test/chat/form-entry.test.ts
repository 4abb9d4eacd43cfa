import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { beginForm, correct, currentField, enterLine, readAnswer } from '../../src/chat/form-entry.ts';
import type { FormEntry, Step } from '../../src/chat/form-entry.ts';
import { stepLines, stepPrompt, takenLine } from '../../src/chat/form-wording.ts';
import { readRequestedSchema } from '@interlude-ai/core/elicitation/form/requested-schema.ts';
import type { Field } from '@interlude-ai/core/elicitation/form/field.ts';

function fieldsOf(properties: object, required: string[] = []): Field[] {
  const read = readRequestedSchema({ type: 'object', properties, required });
  if (read.kind === 'unsupported') throw new Error(read.reason);
  return read.fields;
}

const fieldOf = (schema: object, isRequired = true) =>
  fieldsOf({ it: schema }, isRequired ? ['it'] : [])[0] as Field;

const colours = {
  type: 'string',
  oneOf: [
    { const: 'r', title: 'Red' },
    { const: 'b', title: 'Light blue' },
  ],
};
const several = { type: 'array', items: { anyOf: [...colours.oneOf, { const: 'g', title: 'Green' }] } };
const nights = { type: 'integer', minimum: 1, maximum: 30 };

describe('one line for one field', () => {
  test.each<[object, string, unknown]>([
    [{ type: 'string' }, '  Alice Adams ', 'Alice Adams'],
    [{ type: 'string', maxLength: 2 }, '👀👀', '👀👀'],
    [{ type: 'string', format: 'email' }, 'alice@example.com', 'alice@example.com'],
    [{ type: 'string', format: 'uri' }, 'https://example.com/a', 'https://example.com/a'],
    [{ type: 'string', format: 'date' }, '2028-02-29', '2028-02-29'],
    [{ type: 'string', format: 'date-time' }, '2027-03-14T08:30:00Z', '2027-03-14T08:30:00Z'],
    [{ type: 'string', format: 'date-time' }, '2027-03-14 8:30 +02:00', '2027-03-14T08:30:00+02:00'],
    [{ type: 'string', format: 'date-time' }, '2027-03-14 08:30:15.5z', '2027-03-14T08:30:15.5Z'],
    [nights, '12', 12],
    [{ type: 'number' }, '-0.5', -0.5],
    [{ type: 'integer', multipleOf: 5 }, '15', 15],
    [{ type: 'number', multipleOf: 0.1 }, '0.3', 0.3],
    [{ type: 'boolean' }, 'Y', true],
    [{ type: 'boolean' }, 'no', false],
    [colours, '2', 'b'],
    [colours, 'light BLUE', 'b'],
    [colours, 'r', 'r'],
    [{ type: 'string', enum: ['20', '10'] }, '2', '10'],
    [{ type: 'string', enum: ['20', '10'] }, '20', '20'],
    [several, '1,3', ['r', 'g']],
    [several, '3 1 3', ['g', 'r']],
    [several, 'green, Light blue', ['g', 'b']],
  ])('%j: %j is %j', (schema, line, value) => {
    expect(readAnswer(fieldOf(schema), line)).toEqual({ kind: 'value', value });
  });

  test('a time without a zone is this machine’s', () => {
    const read = readAnswer(fieldOf({ type: 'string', format: 'date-time' }), '2027-03-14 08:30');
    const value = read.kind === 'value' ? String(read.value) : '';
    expect(value).toMatch(/^2027-03-14T08:30:00[+-]\d\d:\d\d$/);
    expect(Date.parse(value)).toBe(new Date(2027, 2, 14, 8, 30).getTime());
  });

  test.each<[object, string, string]>([
    [{ type: 'string', minLength: 3 }, 'Al', 'That is too short: at least 3 characters.'],
    [{ type: 'string', maxLength: 1 }, 'Al', 'That is too long: at most 1 character.'],
    [{ type: 'string', format: 'email' }, 'alice', 'Write an email address, like alice@example.com.'],
    [{ type: 'string', format: 'uri' }, 'example.com', 'Write a complete address, like https://example.com'],
    [{ type: 'string', format: 'date' }, '2027-02-29', 'Write a day like 2027-03-14.'],
    [{ type: 'string', format: 'date' }, 'tomorrow', 'Write a day like 2027-03-14.'],
    [{ type: 'string', format: 'date-time' }, '2027-03-14', 'Write a day and a time like 2027-03-14 08:30.'],
    [
      { type: 'string', format: 'date-time' },
      '2027-03-14 24:30',
      'Write a day and a time like 2027-03-14 08:30.',
    ],
    [nights, 'two', 'Write a number, like 42.'],
    [nights, '1.5', 'Write a whole number, like 42.'],
    [nights, '0', 'That is too little: at least 1.'],
    [nights, '31', 'That is too much: at most 30.'],
    [{ type: 'number', exclusiveMinimum: 0 }, '0', 'That is too little: more than 0.'],
    [{ type: 'number', exclusiveMaximum: 1 }, '1', 'That is too much: less than 1.'],
    [{ type: 'integer', multipleOf: 5 }, '12', 'Write a multiple of 5.'],
    [{ type: 'boolean' }, 'maybe', 'Answer y or n.'],
    [colours, '3', 'Choose one of the list by its number, 1 to 2.'],
    [several, '1,7', '“7” is not on the list. Write numbers of it, like 1,2.'],
    [{ ...several, minItems: 2 }, '1', 'Choose at least 2.'],
    [{ ...several, maxItems: 1 }, '1,2', 'Choose at most 1.'],
  ])('%j: %j is refused', (schema, line, why) => {
    expect(readAnswer(fieldOf(schema), line)).toEqual({ kind: 'wrong', why });
  });
});

const form = fieldsOf(
  {
    name: { type: 'string', title: 'Name' },
    nights: { ...nights, title: 'Nights', default: 3 },
    window: { type: 'boolean', title: 'Window seat' },
    colour: { ...colours, title: 'Colour', default: 'b' },
    extras: { ...several, title: 'Extras', minItems: 1, maxItems: 2 },
  },
  ['name', 'nights'],
);

/** Types these lines. */
function type(
  lines: string[],
  from: FormEntry = beginForm(form),
): { entry: FormEntry; last: Step | undefined } {
  let entry = from;
  let last: Step | undefined;
  for (const line of lines) {
    last = enterLine(entry, line);
    if (last.kind === 'moved' || last.kind === 'answered') entry = last.entry;
  }
  return { entry, last };
}

const whereIs = (entry: FormEntry) => currentField(entry)?.name ?? 'review';

describe('a form, line by line', () => {
  test.each<[string, string[], string | Record<string, unknown>]>([
    ['begins with its first field', [], 'name'],
    ['goes on with the next', ['Alice'], 'nights'],
    ['stays where an entry is wrong', ['Alice', '99'], 'nights'],
    ['stays where an answer is needed', [''], 'name'],
    ['does not leave out what is needed', ['-'], 'name'],
    ['goes back', ['Alice', '2', '/back'], 'nights'],
    ['does not go back before the beginning', ['/back'], 'name'],
    ['ends with the review', ['Alice', '2', 'y', '1', '1'], 'review'],
    ['goes back from the review to the last field', ['Alice', '', '', '', '', '/BACK'], 'extras'],
    ['does not send what was not agreed to', ['Alice', '', '', '', '', 'n'], 'review'],
    ['takes a number in the review as the answer to change', ['Alice', '', '', '', '', '2'], 'nights'],
    ['comes back to the review after a change', ['Alice', '', '', '', '', '2', '5'], 'review'],
    ['knows no such answer', ['Alice', '', '', '', '', '6'], 'review'],
    [
      'takes the defaults, and leaves out what was left alone',
      ['Alice', '', '', '', '', ''],
      { name: 'Alice', nights: 3, colour: 'b' },
    ],
    [
      'leaves out a default that is not wanted',
      ['Alice', '', 'n', '-', '', 'y'],
      { name: 'Alice', nights: 3, window: false },
    ],
    [
      'keeps what was answered on the way back',
      ['Alice', '7', '/back', '/back', '', '', 'y', '1', '1 2', ''],
      { name: 'Alice', nights: 7, window: true, colour: 'r', extras: ['r', 'b'] },
    ],
    [
      'keeps it left out on the way back',
      ['Alice', '', '-', '-', '-', '/back', '/back', '', '', ''],
      { name: 'Alice', nights: 3 },
    ],
    [
      'sends the change',
      ['Alice', '', '', '', '', '1', 'Bob', 'YES'],
      { name: 'Bob', nights: 3, colour: 'b' },
    ],
  ])('%s', (_, lines, expected) => {
    const { entry, last } = type(lines);
    expect(last?.kind === 'send' ? last.content : whereIs(entry)).toStrictEqual(expected);
  });

  test.each<[object, string]>([
    [{ type: 'string' }, 'Write a text.'],
    [{ type: 'string', format: 'email' }, 'Write an email address, like alice@example.com.'],
    [colours, 'Choose one of the list by its number, 1 to 2.'],
  ])('%j is not left out: says what an answer looks like', (schema, how) => {
    const entry = beginForm([{ ...fieldOf(schema), isRequired: true }]);
    const why = `This one has to be answered. ${how}`;
    for (const line of ['', '-']) expect(enterLine(entry, line)).toEqual({ kind: 'wrong', why });
  });

  test('what the service refuses is asked again, field by field, and everything else is kept', () => {
    const full = type(['Alice', '2', 'y', '1', '1']).entry;
    const back = correct(
      full,
      new Map([
        ['extras', 'too few'],
        ['nights', 'fully booked'],
      ]),
    );
    expect(whereIs(back)).toBe('nights');
    expect(stepPrompt(back)).toBe('Nights');
    expect(enterLine(back, '')).toMatchObject({ kind: 'wrong' });
    const next = type(['4'], back).entry;
    expect(whereIs(next)).toBe('extras');
    const { last } = type(['1 2', ''], next);
    expect(last).toStrictEqual({
      kind: 'send',
      content: { name: 'Alice', nights: 4, window: true, colour: 'r', extras: ['r', 'b'] },
    });
  });

  test('a complaint about no field of the form changes nothing', () => {
    const full = type(['Alice', '2', 'y', '1', '1']).entry;
    expect(correct(full, new Map([['other', 'wrong']]))).toBe(full);
  });

  test('a required choice of any number may be none', () => {
    const [extras] = fieldsOf({ extras: several }, ['extras']);
    for (const nothing of ['', '-']) {
      const { last } = type([nothing, ''], beginForm([extras as Field]));
      expect(last).toStrictEqual({ kind: 'send', content: { extras: [] } });
    }
  });

  test.each<[string, object, string[], string]>([
    [
      'filled in where it has to be',
      { name: { type: 'string', default: 'Alice' }, nights },
      ['name'],
      'review',
    ],
    ['not all filled in', { name: { type: 'string', default: 'Alice' }, nights }, ['name', 'nights'], 'name'],
    ['of nothing but optional fields', { name: { type: 'string', default: 'Alice' }, nights }, [], 'name'],
    ['of a single field', { name: { type: 'string', default: 'Alice' } }, ['name'], 'name'],
  ])('a form that is %s begins where there is something to do', (_, properties, required, where) => {
    expect(whereIs(beginForm(fieldsOf(properties, required)))).toBe(where);
  });

  test('what a form arrived with is sent as it is, but for what was changed', () => {
    const filledIn = fieldsOf(
      { name: { type: 'string', default: 'Alice' }, nights: { ...nights, default: 2 } },
      ['name'],
    );
    expect(type(['', ''], beginForm(filledIn)).last).toStrictEqual({
      kind: 'send',
      content: { name: 'Alice', nights: 2 },
    });
    expect(type(['1', 'Bob', ''], beginForm(filledIn)).last).toStrictEqual({
      kind: 'send',
      content: { name: 'Bob', nights: 2 },
    });
  });

  test('a form without fields only waits for a yes', () => {
    const empty = beginForm([]);
    expect(stepPrompt(empty)).toBe('Send? [Y/n]');
    expect(enterLine(empty, '')).toStrictEqual({ kind: 'send', content: {} });
    expect(enterLine(empty, '/back')).toMatchObject({ kind: 'wrong' });
  });
});

describe('how it looks', () => {
  const looks = (entry: FormEntry) =>
    stripVTControlCharacters([...stepLines(entry), stepPrompt(entry)].join('\n'));

  test('a field, with what helps to answer it', () => {
    expect(looks(type(['Alice']).entry)).toBe('  2/5 Nights · 1 to 30\nNights [3]');
    expect(looks(type(['Alice', '']).entry)).toBe('  3/5 Window seat · optional\nWindow seat [y/n]');
    expect(looks(type(['Alice', '', '']).entry)).toBe(
      '  4/5 Colour · optional\n     1  Red\n     2  Light blue\nColour [Light blue]',
    );
    expect(looks(type(['Alice', '', '', '']).entry)).toBe(
      '  5/5 Extras · 1 to 2 of them, like 1,2 · optional\n     1  Red\n     2  Light blue\n     3  Green\nExtras',
    );
  });

  test('the review', () => {
    expect(looks(type(['Alice', '', 'y', '1', '']).entry)).toBe(
      [
        '   1  Name         Alice',
        '   2  Nights       3',
        '   3  Window seat  yes',
        '   4  Colour       Red',
        '   5  Extras       –',
        'Send? [Y/n/number to change]',
      ].join('\n'),
    );
  });

  test('a single answer is not shown twice', () => {
    const [single] = form as [Field];
    expect(looks(type(['Alice'], beginForm([single])).entry)).toBe('Send? [Y/n/1 to change]');
  });

  test('a field with a complaint', () => {
    const full = type(['Alice', '2', 'y', '1', '1']).entry;
    expect(looks(correct(full, new Map([['nights', 'fully\nbooked']])))).toBe(
      '  2/5 Nights · 1 to 30\n    ✗ fully booked\nNights',
    );
  });

  test('what was taken is said where it is not what was typed', () => {
    const [, nightsField, window, colour] = form as [Field, Field, Field, Field];
    const said = (field: Field, value: unknown, typed: string) =>
      stripVTControlCharacters(takenLine(field, value, typed) ?? '');
    expect(said(nightsField, 3, '')).toBe('    → 3');
    expect(said(nightsField, 3, ' 3 ')).toBe('');
    expect(said(window, undefined, '')).toBe('    → left out');
    expect(said(window, true, 'y')).toBe('    → yes');
    expect(said(colour, 'b', '2')).toBe('    → Light blue');
    const time = fieldOf({ type: 'string', format: 'date-time' });
    expect(said(time, '2027-03-14T08:30:00Z', '2027-03-14 8:30 Z')).toBe('    → 2027-03-14 08:30 UTC');
  });

  test('what the server writes stays within its line and controls nothing', () => {
    const sly = fieldsOf({ it: { type: 'string', title: 'A\n\u001b[2JB', description: 'c\r\nd' } });
    expect(looks(beginForm(sly))).toBe('  1/1 A [2JB · c d · optional\nA [2JB');
  });
});
