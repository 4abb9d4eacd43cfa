import { describe, expect, test } from 'vitest';
import { defaultsOf, readRequestedSchema } from '../../../src/elicitation/form/requested-schema.ts';
import { withoutNullKeywords } from '../../../src/elicitation/form/schema-keywords.ts';
import type { Field } from '../../../src/elicitation/form/field.ts';
import { processorMs } from '../../../../../test/processor-ms.ts';

type Schema = Record<string, unknown>;

function form(properties: Schema, more: Schema = {}) {
  return readRequestedSchema({ type: 'object', properties, ...more });
}

function fieldOf(schema: unknown, required?: string[]): Field | undefined {
  const read = form({ field: schema }, required && { required });
  if (read.kind === 'unsupported') throw new Error(read.reason);
  return read.fields[0];
}

function reasonOf(schema: unknown): string {
  const read = readRequestedSchema(schema);
  if (read.kind === 'form') throw new Error('it was read');
  return read.reason;
}

const ab = [
  { value: 'a', title: 'a' },
  { value: 'b', title: 'b' },
];
const titled = [
  { value: 'a', title: 'First' },
  { value: 'b', title: 'Second' },
];

describe('a field', () => {
  const cases: [what: string, schema: Schema, read: Schema][] = [
    ['a text', { type: 'string' }, { kind: 'text' }],
    [
      'a text with limits',
      { type: 'string', minLength: 2, maxLength: 5, pattern: '^x', default: 'abc' },
      { kind: 'text', minLength: 2, maxLength: 5, pattern: '^x' },
    ],
    [
      'a text with a default',
      { type: 'string', minLength: 2, default: 'abc' },
      { kind: 'text', minLength: 2, default: 'abc' },
    ],
    ['an email address', { type: 'string', format: 'email' }, { kind: 'text', format: 'email' }],
    ['an address', { type: 'string', format: 'uri' }, { kind: 'text', format: 'uri' }],
    ['a day', { type: 'string', format: 'date' }, { kind: 'text', format: 'date' }],
    ['a moment', { type: 'string', format: 'date-time' }, { kind: 'text', format: 'date-time' }],
    ['a text of a format that nobody knows', { type: 'string', format: 'iban' }, { kind: 'text' }],
    [
      'a number',
      { type: 'number', minimum: 0.5, maximum: 2, default: 1.5 },
      { kind: 'number', isInteger: false, minimum: 0.5, maximum: 2, default: 1.5 },
    ],
    [
      'a number between open limits',
      { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1, multipleOf: 0.25, default: 0.5 },
      {
        kind: 'number',
        isInteger: false,
        exclusiveMinimum: 0,
        exclusiveMaximum: 1,
        multipleOf: 0.25,
        default: 0.5,
      },
    ],
    ['a whole number', { type: 'integer', default: 0 }, { kind: 'number', isInteger: true, default: 0 }],
    ['a yes or no', { type: 'boolean' }, { kind: 'boolean' }],
    ['a yes or no, no by default', { type: 'boolean', default: false }, { kind: 'boolean', default: false }],
    [
      'a choice',
      { type: 'string', enum: ['a', 'b'], default: 'b' },
      { kind: 'choice', choices: ab, default: 'b' },
    ],
    ['a choice without a type', { enum: ['a', 'b'] }, { kind: 'choice', choices: ab }],
    [
      'a choice with titles',
      {
        type: 'string',
        oneOf: [
          { const: 'a', title: 'First' },
          { const: 'b', title: 'Second' },
        ],
        default: 'a',
      },
      { kind: 'choice', choices: titled, default: 'a' },
    ],
    [
      'a choice with titles as they used to be',
      { type: 'string', enum: ['a', 'b'], enumNames: ['First', 'Second'] },
      { kind: 'choice', choices: titled },
    ],
    [
      'a choice with fewer titles than values',
      { type: 'string', enum: ['a', 'b'], enumNames: ['First'] },
      { kind: 'choice', choices: [titled[0], ab[1]] },
    ],
    ['a choice that names one twice', { enum: ['a', 'b', 'a'] }, { kind: 'choice', choices: ab }],
    [
      'a list of choices',
      {
        type: 'array',
        items: { type: 'string', enum: ['a', 'b'] },
        minItems: 1,
        maxItems: 2,
        default: ['b', 'a'],
      },
      { kind: 'choices', choices: ab, minItems: 1, maxItems: 2, default: ['b', 'a'] },
    ],
    [
      'a list of choices with titles',
      {
        type: 'array',
        items: {
          anyOf: [
            { const: 'a', title: 'First' },
            { const: 'b', title: 'Second' },
          ],
        },
        default: [],
      },
      { kind: 'choices', choices: titled, default: [] },
    ],
    [
      'a list of choices with "oneOf"',
      { type: 'array', items: { oneOf: [{ const: 'a' }, { const: 'b' }] } },
      { kind: 'choices', choices: ab },
    ],
    [
      'a number or nothing',
      { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }], default: null },
      { kind: 'number', isInteger: true, minimum: 1 },
    ],
    ['a text or nothing', { type: ['string', 'null'] }, { kind: 'text' }],
  ];
  test.each(cases)('can be %s', (_what, schema, read) => {
    expect(fieldOf(schema)).toEqual({ name: 'field', title: 'Field', isRequired: false, ...read });
  });

  test('is required when the schema says so', () => {
    expect(fieldOf({ type: 'string' }, ['field'])).toMatchObject({ isRequired: true });
  });

  test('keeps its title and description, also beside "or nothing"', () => {
    const words = { title: 'Your age', description: 'In years' };
    expect(fieldOf({ type: 'integer', ...words })).toMatchObject(words);
    expect(fieldOf({ anyOf: [{ type: 'integer' }, { type: 'null' }], ...words })).toMatchObject(words);
  });

  test.each([
    ['dueDate', 'Due date'],
    ['due_date', 'Due date'],
    ['guest.name', 'Name'],
    ['größe', 'größe'],
    ['名前', '名前'],
    ['---', '---'],
  ])('named %s is titled %s when it has no title', (name, title) => {
    expect(form({ [name]: { type: 'string', title: ' ' } })).toMatchObject({ fields: [{ name, title }] });
  });

  test('ignores what only describes', () => {
    const annotations = { $comment: 'x', deprecated: true, readOnly: false, 'x-order': 3 };
    expect(fieldOf({ type: 'string', ...annotations })).toEqual(fieldOf({ type: 'string' }));
  });
});

describe('a default that does not fit is left out', () => {
  const cases: [what: string, schema: Schema][] = [
    ['of another kind', { type: 'string', default: 1 }],
    ['that is null', { type: 'boolean', default: null }],
    ['that is a word for yes', { type: 'boolean', default: 'true' }],
    ['too short', { type: 'string', minLength: 2, default: 'a' }],
    ['too long, counted in characters', { type: 'string', maxLength: 1, default: '🙂🙂' }],
    ['without its format', { type: 'string', format: 'email', default: 'nobody' }],
    ['on a day that does not exist', { type: 'string', format: 'date', default: '2026-02-30' }],
    ['at a time without a zone', { type: 'string', format: 'date-time', default: '2026-02-03T09:30:00' }],
    ['that is no address', { type: 'string', format: 'uri', default: 'example.com' }],
    ['that might not match', { type: 'string', pattern: '^a', default: 'a' }],
    ['below the least', { type: 'number', minimum: 1, default: 0 }],
    ['on an open limit', { type: 'number', exclusiveMaximum: 1, default: 1 }],
    ['between two steps', { type: 'number', multipleOf: 2, default: 3 }],
    ['with a fraction', { type: 'integer', default: 1.5 }],
    ['that is no choice', { type: 'string', enum: ['a'], default: 'b' }],
    ['with one that is no choice', { type: 'array', items: { enum: ['a'] }, default: ['a', 'b'] }],
    ['with too few', { type: 'array', items: { enum: ['a'] }, minItems: 1, default: [] }],
    ['with the same twice', { type: 'array', items: { enum: ['a', 'b'] }, default: ['a', 'a'] }],
  ];
  test.each(cases)('%s', (_what, schema) => {
    const without = { ...schema };
    delete without['default'];
    expect(fieldOf(schema)).toEqual(fieldOf(without));
  });
});

test.each([
  ['email', 'a.b+c@example.co.uk'],
  ['uri', 'https://example.com:8443/a%20b/?c=d&e=%2F#f'],
  ['date', '2028-02-29'],
  ['date-time', '2026-11-21T23:59:59.5+01:00'],
])('a default of the format %s is kept', (format, value) => {
  expect(fieldOf({ type: 'string', format, default: value })).toMatchObject({ default: value });
});

test('the defaults of a form are those that its fields have, also where they say no or none', () => {
  const read = form({
    text: { type: 'string', default: '' },
    sure: { type: 'boolean', default: false },
    count: { type: 'integer', default: 0 },
    tags: { type: 'array', items: { enum: ['a'] }, default: [] },
    open: { type: 'string' },
  });
  if (read.kind === 'unsupported') throw new Error(read.reason);
  expect(defaultsOf(read.fields)).toEqual({ text: '', sure: false, count: 0, tags: [] });
});

test.each([[{ type: 'object' }], [{ type: 'object', properties: {} }], [{ type: 'object', required: [] }]])(
  'a form without fields is a bare confirmation: %j',
  (schema) => {
    expect(readRequestedSchema(withoutNullKeywords(schema))).toEqual({ kind: 'form', fields: [] });
  },
);

describe('a schema is refused, with the reason,', () => {
  const field = (schema: unknown) => ({ type: 'object', properties: { guest: schema } });
  const text = { type: 'string' };
  const cases: [what: string, schema: unknown, reason: RegExp][] = [
    ['when it is no schema', 'form', /must be an object schema/],
    ['when it is nothing', null, /must be an object schema/],
    ['when it is a list', [], /must be an object schema/],
    ['when it is no object schema', text, /must be an object schema/],
    ['when it has no type', {}, /must be an object schema/],
    ['with properties that are no object', { type: 'object', properties: [text] }, /"properties" must be/],
    ['with a condition', { type: 'object', properties: {}, if: {} }, /The schema uses "if"/],
    ['with a reference', { $ref: '#', type: 'object' }, /The schema uses "\$ref"/],
    ['with parts', { type: 'object', allOf: [] }, /The schema uses "allOf"/],
    ['with fields nobody knows', { type: 'object', patternProperties: {} }, /uses "patternProperties"/],
    ['with a least number of fields', { type: 'object', minProperties: 1 }, /uses "minProperties"/],
    ['with a required field it lacks', { type: 'object', required: ['a'] }, /"a", which is not a field/],
    ['with required as a yes', { type: 'object', required: true }, /"required" must be a list/],
    ['with a field without a name', { type: 'object', properties: { '': text } }, /must have a name/],
    ['with a name too long', { type: 'object', properties: { ['x'.repeat(129)]: text } }, /longer than 128/],
    [
      'with a field that no parser lets through',
      JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'),
      /may be named "__proto__"/,
    ],
    [
      'with more fields than 64',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`f${n}`, text])),
      },
      /at most 64 fields; this one has 65/,
    ],
    ['with a field that is true', field(true), /"guest" must be described by a schema/],
    ['with a nested object', field({ type: 'object', properties: { a: text } }), /"guest" is an object/],
    ['with a list of objects', field({ type: 'array', items: { type: 'object' } }), /a list of objects/],
    ['with a list of anything', field({ type: 'array' }), /does not name its choices/],
    ['with a list of free texts', field({ type: 'array', items: text }), /only lists of choices/],
    [
      'with a list of numbers',
      field({ type: 'array', items: { enum: [1, 2] } }),
      /"guest", in "items", must have only texts/,
    ],
    ['with a tuple', field({ type: 'array', prefixItems: [text] }), /uses "prefixItems"/],
    ['with a reference in a field', field({ $ref: '#/$defs/guest' }), /"guest" uses "\$ref"/],
    ['with a field of either kind', field({ anyOf: [text, { type: 'number' }] }), /"guest" uses "anyOf"/],
    [
      'with a field of two types',
      field({ type: ['string', 'number'] }),
      /"guest" must be a string, number, integer, boolean/,
    ],
    ['with a field that is not', field({ type: 'string', not: { const: 'x' } }), /"guest" uses "not"/],
    ['with a field without a type', field({ title: 'Guest' }), /"guest" must be a string/],
    ['with a field of an unknown type', field({ type: 'file' }), /"guest" must be a string/],
    ['with a choice of numbers', field({ type: 'integer', enum: [1, 2] }), /must have only texts/],
    ['with a choice among nothing', field({ type: 'string', enum: [] }), /has no choices/],
    [
      'with more choices than 500',
      field({ type: 'string', enum: Array.from({ length: 501 }, (_, n) => `v${n}`) }),
      /has 501 choices; at most 500/,
    ],
    ['with a limit in words', field({ type: 'number', minimum: 'one' }), /"minimum" that is not a number/],
    ['with a negative length', field({ type: 'string', minLength: -1 }), /"minLength" that is not a whole/],
    ['with half a length', field({ type: 'string', maxLength: 1.5 }), /"maxLength" that is not a whole/],
    ['with steps of nothing', field({ type: 'number', multipleOf: 0 }), /"multipleOf"/],
    ['with a pattern that is no text', field({ type: 'string', pattern: 1 }), /"pattern" that is not a text/],
    ['that no text can answer', field({ type: 'string', minLength: 2, maxLength: 1 }), /cannot be answered/],
    ['that no number can answer', field({ type: 'number', minimum: 2, maximum: 1 }), /cannot be answered/],
    [
      'that no list can answer',
      field({ type: 'array', items: { enum: ['a'] }, minItems: 2 }),
      /cannot be answered/,
    ],
  ];
  test.each(cases)('%s', (_what, schema, reason) => {
    expect(reasonOf(schema)).toMatch(reason);
    expect(reasonOf(schema).length).toBeLessThan(250);
  });
});

test('names that mean something to JavaScript are names like any other', () => {
  const names = ['constructor', 'toString', 'hasOwnProperty', 'length', 'prototype'];
  const read = form(Object.fromEntries(names.map((name) => [name, { type: 'string', default: name }])));
  if (read.kind === 'unsupported') throw new Error(read.reason);
  expect(Object.entries(defaultsOf(read.fields))).toEqual(names.map((name) => [name, name]));
  expect(reasonOf({ type: 'object', required: ['toString'] })).toMatch(/not a field/);
});

describe('a schema of 10 MB is refused at once,', () => {
  const size = 10_000_000;
  const tower = (levels: number) => {
    let schema: Schema = { type: 'string' };
    for (let level = 0; level < levels; level++) schema = { a: schema };
    return schema;
  };
  const cases: [what: string, schema: () => unknown][] = [
    ['one long description', () => ({ type: 'object', description: 'x'.repeat(size) })],
    ['one long list', () => ({ type: 'object', properties: { a: { enum: Array(size / 4).fill('a') } } })],
    ['one high tower', () => ({ type: 'object', properties: tower(size / 6) })],
    [
      'very many fields',
      () => {
        const fields = Array.from({ length: size / 50 }, (_, n) => [`f${n}`, { type: 'string' }]);
        return { type: 'object', properties: Object.fromEntries(fields) };
      },
    ],
  ];
  test.each(cases)('%s', (_what, build) => {
    const schema = build();
    const tookMs = processorMs(() => expect(reasonOf(schema)).toMatch(/more than 65536 characters/));
    expect(tookMs).toBeLessThan(1_000);
  });

  test('and what is just small enough is read', () => {
    const of = (length: number) =>
      readRequestedSchema({ type: 'object', properties: {}, description: 'x'.repeat(length) });
    expect([of(65_000).kind, of(66_000).kind]).toEqual(['form', 'unsupported']);
  });
});

describe('oddities of real servers mean nothing:', () => {
  const text = { name: 'field', title: 'Field', isRequired: false, kind: 'text' };
  test.each<[what: string, schema: Schema, read: Schema]>([
    ['limits that are null', { type: 'string', minLength: null, maxLength: null, pattern: null }, text],
    ['words that are null', { type: 'string', title: null, description: null, format: null }, text],
    ['a default that is null', { type: 'string', default: null }, text],
    [
      'keywords of other schemas that are null',
      { type: 'string', anyOf: null, enum: null, items: null, $ref: null },
      text,
    ],
    ['examples that are null', { type: 'string', examples: null }, text],
    [
      'limits of a number that are null',
      { type: 'number', minimum: null, exclusiveMaximum: null, multipleOf: null },
      { ...text, kind: 'number', isInteger: false },
    ],
    [
      'null among the values',
      { type: ['string', 'null'], enum: ['a', null, 'b'] },
      { ...text, kind: 'choice', choices: ab },
    ],
    [
      'null among titled values',
      { type: 'string', enum: ['a', null, 'b'], enumNames: ['First', 'None', 'Second'] },
      { ...text, kind: 'choice', choices: titled },
    ],
    [
      'null among constants',
      { oneOf: [{ const: 'a' }, { const: null, title: 'None' }, { const: 'b' }] },
      { ...text, kind: 'choice', choices: ab },
    ],
    [
      'limits of a list that are null',
      { type: 'array', items: { enum: ['a', 'b'], title: null }, minItems: null, uniqueItems: null },
      { ...text, kind: 'choices', choices: ab },
    ],
  ])('%s', (_, schema, read) => {
    expect(fieldOf(withoutNullKeywords(schema))).toEqual(read);
  });

  test.each([
    ['required null', { type: 'object', properties: {}, required: null }],
    ['properties null', { type: 'object', properties: null }],
    ['an empty list for properties', { type: 'object', properties: [], required: [] }],
    ['no type', { properties: {} }],
    ['a type that is null', { type: null, properties: {} }],
    ['a property that is null', { type: 'object', properties: { field: null } }],
    ['combinations that are null', { type: 'object', properties: {}, anyOf: null, allOf: null, $defs: null }],
  ])('%s', (_, schema) => {
    expect(readRequestedSchema(withoutNullKeywords(schema))).toEqual({ kind: 'form', fields: [] });
  });

  test('fields may be called like keywords', () => {
    const properties = {
      default: { type: 'string', minLength: null },
      enum: { type: 'string', title: null },
    };
    const read = form(withoutNullKeywords({ properties }).properties);
    expect(read).toMatchObject({ fields: [{ name: 'default' }, { name: 'enum' }] });
  });

  test('a schema that is nested without end is refused', () => {
    let nested: Schema = {};
    for (let level = 0; level < 8_000; level++) nested = { a: nested };
    const schema = withoutNullKeywords({ type: 'object', properties: { a: nested } });
    expect(readRequestedSchema(schema).kind).toBe('unsupported');
  });
});

describe('examples are a part of the help:', () => {
  test.each<[schema: Schema, help: string]>([
    [{ type: 'string', examples: ['ACME-1', 'ACME-2'] }, 'e.g. ACME-1, ACME-2'],
    [{ type: 'string', description: 'The issue', examples: ['ACME-1'] }, 'The issue (e.g. ACME-1)'],
    [{ type: 'integer', examples: [5, 10, 20, 50] }, 'e.g. 5, 10, 20'],
    [{ type: 'string', examples: 'ACME-1' }, 'e.g. ACME-1'],
    [{ type: 'string', examples: [null, '', {}, 'ACME-1'] }, 'e.g. ACME-1'],
    [{ type: 'string', examples: ['x'.repeat(500)] }, `e.g. ${'x'.repeat(80)}`],
    [{ type: 'string', description: 'One of them', enum: ['a'], examples: ['a'] }, 'One of them'],
  ])('%j', (schema, help) => {
    expect(fieldOf(schema)?.description).toBe(help);
  });
});
