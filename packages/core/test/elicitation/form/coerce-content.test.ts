import { describe, expect, test } from 'vitest';
import { coerceContent } from '../../../src/elicitation/form/coerce-content.ts';
import { readRequestedSchema } from '../../../src/elicitation/form/requested-schema.ts';

const properties = {
  text: { type: 'string' },
  email: { type: 'string', format: 'email' },
  number: { type: 'number' },
  whole: { type: 'integer' },
  sure: { type: 'boolean' },
  size: { type: 'string', enum: ['small', 'large'] },
  maybe: { type: 'string', enum: ['', 'yes'] },
  tags: { type: 'array', items: { enum: ['a', 'b'] } },
  some: { type: 'array', items: { enum: ['a', 'b'] }, minItems: 1 },
};

function coerce(content: Record<string, unknown>, required: string[] = []): Record<string, unknown> {
  const read = readRequestedSchema({ type: 'object', properties, required });
  if (read.kind === 'unsupported') throw new Error(read.reason);
  return coerceContent(read.fields, content);
}

describe('what was meant is understood:', () => {
  test.each([
    ['whole', '42', 42],
    ['whole', ' 42 ', 42],
    ['whole', '42.0', 42],
    ['number', '-1.50', -1.5],
    ['number', '.5', 0.5],
    ['number', '1e3', 1000],
    ['sure', 'on', true],
    ['sure', 'True', true],
    ['sure', 'yes', true],
    ['sure', '1', true],
    ['sure', 'off', false],
    ['sure', 'false', false],
    ['sure', 'NO', false],
    ['sure', '0', false],
    ['tags', 'a', ['a']],
    ['email', ' a@example.com\n', 'a@example.com'],
  ])('%s %j is %j', (name, value, meant) => {
    expect(coerce({ [name]: value })).toEqual({ [name]: meant });
  });
});

describe('what is not understood stays as it is:', () => {
  test.each([
    ['whole', 'forty-two'],
    ['whole', '0x2a'],
    ['whole', '4,2'],
    ['whole', '1e999'],
    ['number', 'Infinity'],
    ['number', 'NaN'],
    ['number', ' '],
    ['number', true],
    ['sure', 'perhaps'],
    ['sure', 1],
    ['size', 'LARGE'],
    ['tags', { a: true }],
    ['text', 42],
    ['text', ' spaced '],
    ['text', { nested: '' }],
  ])('%s %j', (name, value) => {
    expect(coerce({ [name]: value })).toEqual({ [name]: value });
  });

  test('a field that the form does not have', () => {
    expect(coerce({ another: '42', toString: '' })).toEqual({ another: '42', toString: '' });
    const hostile = JSON.parse('{"__proto__":{"polluted":true}}') as Record<string, unknown>;
    expect(Object.keys(coerce(hostile))).toEqual(['__proto__']);
    expect('polluted' in coerce(hostile)).toBe(false);
  });
});

describe('what was left alone is left out:', () => {
  test.each(['text', 'email', 'number', 'whole', 'sure', 'size', 'tags', 'some'])('an empty %s', (name) => {
    expect(coerce({ [name]: '' })).toEqual({});
  });

  test('an empty list where some must be named', () => {
    expect(coerce({ some: [] })).toEqual({});
  });

  test.each([
    ['number', ''],
    ['sure', ''],
    ['size', ''],
  ])('an empty %s, also where it is required: it is then missing', (name, value) => {
    expect(coerce({ [name]: value }, [name])).toEqual({});
  });
});

describe('what may be meant is kept:', () => {
  test.each([
    ['an empty text where a text is required', 'text', '', ['text']],
    ['an empty list where any number will do', 'tags', [], []],
    ['an empty list where some must be named', 'some', [], ['some']],
    ['the empty choice where there is one', 'maybe', '', []],
    ['a no', 'sure', false, []],
    ['a nought', 'whole', 0, []],
  ])('%s', (_what, name, value, required) => {
    expect(coerce({ [name]: value }, required)).toEqual({ [name]: value });
  });
});

test('null leaves a field out, whatever its kind', () => {
  const content = Object.fromEntries(Object.keys(properties).map((name) => [name, null]));
  expect(coerce(content)).toEqual({});
  expect(coerce({ text: null }, ['text'])).toEqual({});
});
