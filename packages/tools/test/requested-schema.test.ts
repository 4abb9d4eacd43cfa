/** The zod object of a tool's question becomes the JSON Schema of a flat form, or is refused by the name of its field. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readRequestedSchema } from '@interlude-ai/core/elicitation/form/requested-schema.ts';
import { toRequestedSchema } from '../src/requested-schema.ts';

function flat(shape: z.core.$ZodLooseShape): Record<string, unknown> {
  const read = toRequestedSchema(z.object(shape));
  if (read.kind === 'problem') throw new Error(read.problem);
  return read.requestedSchema;
}

describe('what a form can show becomes a schema that its reader takes', () => {
  test.each([
    ['a text', z.string().describe('Your name'), { type: 'string', description: 'Your name' }],
    ['a short text', z.string().min(2).max(9), { type: 'string', minLength: 2, maxLength: 9 }],
    ['a text of a form', z.string().regex(/^\d+$/), { type: 'string', pattern: String.raw`^\d+$` }],
    ['an address of e-mail', z.email(), { type: 'string', format: 'email' }],
    ['an address', z.url(), { type: 'string', format: 'uri' }],
    ['a date', z.iso.date(), { type: 'string', format: 'date' }],
    ['a time', z.iso.datetime(), { type: 'string', format: 'date-time' }],
    ['a number', z.number().min(1).max(5), { type: 'number', minimum: 1, maximum: 5 }],
    ['a whole number', z.int(), { type: 'integer' }],
    ['a whole number from 0', z.number().int().min(0), { type: 'integer', minimum: 0 }],
    ['yes or no', z.boolean(), { type: 'boolean' }],
    ['one of some', z.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    [
      'some of some',
      z.array(z.enum(['a', 'b'])).min(1),
      { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1 },
    ],
    ['what is transformed later', z.string().transform(Number), { type: 'string' }],
  ])('%s', (_, field, expected) => {
    const schema = flat({ field });
    expect(schema).toEqual({ type: 'object', properties: { field: expected }, required: ['field'] });
    expect(readRequestedSchema(schema).kind).toBe('form');
  });

  test('what is optional or has a default is not required', () => {
    const schema = flat({ a: z.string().optional(), b: z.boolean().default(true), c: z.string() });
    expect(schema).toMatchObject({ properties: { b: { default: true } }, required: ['c'] });
  });
});

describe('what it cannot show is refused with the name of the field', () => {
  test.each([
    ['an object', z.object({ street: z.string() }), 'The field "field" is an object; a form is flat.'],
    ['a list of texts', z.array(z.string()), 'The field "field" is a list; only lists of choices'],
    ['a list of objects', z.array(z.object({})), 'The field "field" is a list of objects'],
    ['a date of JavaScript', z.date(), 'The field "field" must be a string'],
    ['one type or another', z.union([z.string(), z.number()]), 'The field "field" must be a string'],
    ['a record', z.record(z.string(), z.string()), 'The field "field" is an object'],
    ['a constant', z.literal('a'), 'The field "field" uses "const"'],
    ['an enumeration of numbers', z.enum({ One: 1 }), 'The field "field" must'],
    ['a big number', z.bigint(), 'The field "field" must be'],
  ])('%s', (_, field, words) => {
    const read = toRequestedSchema(z.object({ field }));
    expect(read).toEqual({ kind: 'problem', problem: expect.stringContaining(words) });
  });

  test.each([
    ['a JSON Schema', { type: 'object', properties: {} }],
    ['a text', 'name'],
    ['nothing', undefined],
  ])('%s instead of a schema', (_, given) => {
    expect(toRequestedSchema(given)).toEqual({
      kind: 'problem',
      problem: expect.stringContaining('z.object({ … })'),
    });
  });

  test('a schema of something else than an object', () => {
    expect(toRequestedSchema(z.string())).toMatchObject({ kind: 'problem' });
  });
});
