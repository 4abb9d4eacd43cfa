import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import type { Schema } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { withOwnNames } from '../../src/models/tool-schema/argument-names.ts';
import { fitSchema } from '../../src/models/tool-schema/fit-schema.ts';
import { providersOf } from '../../src/models/tool-schema/provider-rules.ts';
import type { Provider } from '../../src/models/tool-schema/provider-rules.ts';

/** The rules of providers as a check of its own: what they would say of a schema. */
type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is wrong with a tool's input schema for this provider. */
function violations(schema: unknown, provider: Provider): string[] {
  const found: string[] = [];
  if (!isObject(schema)) return ['the root is no object'];
  if (schema['type'] !== 'object') found.push('the root has no type: object');
  if (!isObject(schema['properties'])) found.push('the root has no properties');
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'enum', 'not'])
    if (keyword in schema) found.push(`${keyword} at the root`);
  visit(schema, '', found, provider, schema);
  return found;
}

const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
const googleKeywords = (
  'type format title description nullable enum items properties required anyOf minItems maxItems minProperties ' +
  'maxProperties minLength maxLength pattern minimum maximum default'
).split(' ');

function visit(value: unknown, at: string, found: string[], provider: Provider, root: Json): void {
  if (typeof value === 'boolean') {
    if (provider === 'google') found.push(`${at}: a boolean is no schema`);
    return;
  }
  if (!isObject(value)) return void found.push(`${at}: no schema`);
  const { type, properties, items, required, $ref: reference } = value;
  for (const one of type === undefined ? [] : [type].flat())
    if (!types.includes(one as string)) found.push(`${at}: no type ${JSON.stringify(one)}`);
  if (type !== undefined && [type].flat().length === 0) found.push(`${at}: no types`);
  if ([type].flat().includes('array') && items === undefined) found.push(`${at}: array schema missing items`);
  if (Array.isArray(items)) found.push(`${at}: items are a list`);
  for (const [keyword, one] of Object.entries(value))
    if (one === null && !['default', 'const'].includes(keyword)) found.push(`${at}: ${keyword} is null`);
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'enum'])
    if (keyword in value && !(Array.isArray(value[keyword]) && value[keyword].length > 0))
      found.push(`${at}: ${keyword} is empty`);
  const values = value['enum'];
  if (Array.isArray(values) && new Set(values).size < values.length) found.push(`${at}: enum repeats itself`);
  if (required !== undefined && !(Array.isArray(required) && new Set(required).size === required.length))
    found.push(`${at}: required`);
  for (const keyword of ['exclusiveMinimum', 'exclusiveMaximum', 'minimum', 'maximum'])
    if (keyword in value && typeof value[keyword] !== 'number') found.push(`${at}: ${keyword}`);
  if (typeof value['pattern'] === 'string' && !isPattern(value['pattern'])) found.push(`${at}: pattern`);
  if (value['$id'] !== undefined) found.push(`${at}: $id`);
  if (typeof reference === 'string') {
    const [, kind = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
    if (!isObject(root[kind]) || !Object.hasOwn(root[kind], name))
      found.push(`${at}: ${reference} leads nowhere`);
  }
  if (isObject(properties))
    for (const name of Object.keys(properties)) {
      const pattern = provider === 'google' ? /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/ : /^[a-zA-Z0-9_.-]{1,64}$/;
      if (!pattern.test(name)) found.push(`${at}: property key ${JSON.stringify(name)}`);
    }
  if (provider === 'google') googles(value, at, found);
  for (const keyword of ['properties', '$defs', 'definitions', 'patternProperties'])
    if (isObject(value[keyword]))
      for (const [name, one] of Object.entries(value[keyword]))
        visit(one, `${at}/${name}`, found, provider, root);
  for (const keyword of ['anyOf', 'oneOf', 'allOf'])
    if (Array.isArray(value[keyword]))
      for (const one of value[keyword] as unknown[]) visit(one, `${at}/${keyword}`, found, provider, root);
  if (isObject(items)) visit(items, `${at}[]`, found, provider, root);
}

function googles(value: Json, at: string, found: string[]): void {
  const { type, enum: values, format, properties, required } = value;
  for (const keyword of Object.keys(value))
    if (!googleKeywords.includes(keyword)) found.push(`${at}: unknown name "${keyword}"`);
  if (Array.isArray(type)) found.push(`${at}: a list of types`);
  if (Array.isArray(values) && !values.every((one) => typeof one === 'string'))
    found.push(`${at}: enum of no texts`);
  if (
    format !== undefined &&
    !['enum', 'date-time', 'int32', 'int64', 'float', 'double'].includes(format as string)
  )
    found.push(`${at}: format ${JSON.stringify(format)}`);
  if (at !== '' && isObject(properties) && Object.keys(properties).length === 0)
    found.push(`${at}: empty properties`);
  for (const name of Array.isArray(required) ? required : [])
    if (!isObject(properties) || !Object.hasOwn(properties, String(name)))
      found.push(`${at}: required ${String(name)}`);
  if ('anyOf' in value && Object.keys(value).length > 1) found.push(`${at}: something beside anyOf`);
  const { items } = value;
  if (isObject(items) && items['type'] === undefined && items['anyOf'] === undefined)
    found.push(`${at}[]: no type`);
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

const text = { type: 'string' };
const object = (properties: Schema, more: Schema = {}): Schema => ({
  type: 'object',
  properties,
  ...more,
});

/** What a provider rejects, from public reports, and what is made of it; null: only that it is accepted. */
const rejected: [string, Schema, Schema | null][] = [
  [
    'anyOf at the root',
    {
      type: 'object',
      properties: { id: text, name: text },
      anyOf: [{ required: ['id'] }, { required: ['name'] }],
    },
    object({ id: text, name: text }, { description: 'Give either id, or name.' }),
  ],
  [
    'oneOf of whole objects at the root, without a type',
    {
      oneOf: [
        object({ city: text }, { required: ['city'] }),
        object({ lat: { type: 'number' } }, { required: ['lat'] }),
      ],
    },
    object({ city: text, lat: { type: 'number' } }, { description: 'Give either city, or lat.' }),
  ],
  [
    'oneOf at the root, whose branches tell themselves apart by a constant',
    {
      oneOf: [
        object({ kind: { const: 'a' }, a: text }, { required: ['kind', 'a'] }),
        object({ kind: { const: 'b' } }, { required: ['kind'] }),
      ],
    },
    object({ kind: { anyOf: [{ const: 'a' }, { const: 'b' }] }, a: text }, { required: ['kind'] }),
  ],
  [
    'allOf at the root',
    {
      type: 'object',
      allOf: [object({ a: text }, { required: ['a'] }), object({ b: text }, { required: ['b'] })],
    },
    object({ a: text, b: text }, { required: ['a', 'b'] }),
  ],
  [
    'a reference at the root',
    { $ref: '#/$defs/Args', $defs: { Args: object({ a: text }, { required: ['a'] }) } },
    object({ a: text }, { required: ['a'], $defs: { Args: object({ a: text }, { required: ['a'] }) } }),
  ],
  [
    'not and enum at the root',
    { ...object({ a: text }), not: { required: ['b'] }, enum: [{}] },
    object({ a: text }),
  ],
  [
    'conditions at the root',
    {
      ...object({ a: text }),
      ...(JSON.parse(
        '{"if":{"required":["a"]},"then":{"properties":{"b":{"type":"string"}},"required":["b"]}}',
      ) as Schema),
    },
    object({ a: text, b: text }),
  ],
  ['no type at the root', { properties: { a: text } }, object({ a: text })],
  ['several types at the root', { type: ['object', 'null'], properties: { a: text } }, object({ a: text })],
  ['no properties', { type: 'object' }, object({})],
  ['properties: null', { type: 'object', properties: null }, object({})],
  [
    'an array without items',
    object({ tags: { type: 'array' } }),
    object({ tags: { type: 'array', items: {} } }),
  ],
  [
    'an array or nothing, without items',
    object({ tags: { type: ['array', 'null'] } }),
    object({ tags: { type: ['array', 'null'], items: {} } }),
  ],
  [
    'a tuple of an older draft',
    object({ at: { type: 'array', items: [{ type: 'number' }, text], additionalItems: false } }),
    object({ at: { type: 'array', items: { anyOf: [{ type: 'number' }, text] } } }),
  ],
  [
    'names with brackets',
    object({ 'filter[name]': text, 'page[size]': { type: 'integer' } }, { required: ['filter[name]'] }),
    object({ filter_name: text, page_size: { type: 'integer' } }, { required: ['filter_name'] }),
  ],
  [
    'a name with brackets further in',
    object({ query: object({ 'tags[]': text }) }),
    object({ query: object({ tags: text }) }),
  ],
  ['a name beyond ASCII', object({ größe: text }), object({ gr_e: text })],
  ['a name that is too long', object({ ['x'.repeat(80)]: text }), null],
  ['a name that is empty', object({ '': text }), null],
  ['a property that is no schema', object({ a: text, type: 'object' }), object({ a: text, type: {} })],
  ['a property that is null', object({ a: null }), object({ a: {} })],
  ['a type that there is not', object({ a: { type: 'any' }, b: { type: 'file' } }), object({ a: {}, b: {} })],
  ['a type in capitals', { type: 'OBJECT', properties: { a: { type: 'STRING' } } }, object({ a: text })],
  ['an empty list of types', object({ a: { type: [] } }), object({ a: {} })],
  ['an empty enum', object({ a: { type: 'string', enum: [] } }), object({ a: text })],
  ['an enum that repeats itself', object({ a: { enum: ['x', 'x'] } }), object({ a: {} })],
  ['required: null', object({ a: text }, { required: null }), object({ a: text })],
  [
    'required of draft 3',
    object({ a: { type: 'string', required: true } }),
    object({ a: text }, { required: ['a'] }),
  ],
  [
    'required twice',
    object({ a: text }, { required: ['a', 'a', 7] }),
    object({ a: text }, { required: ['a'] }),
  ],
  [
    'exclusive limits of draft 4',
    object({ n: { type: 'number', minimum: 1, exclusiveMinimum: true, exclusiveMaximum: false } }),
    object({ n: { type: 'number', exclusiveMinimum: 1 } }),
  ],
  [
    'keywords that are null',
    object({ a: { ...text, minLength: null, description: null, format: null } }),
    object({ a: text }),
  ],
  [
    'limits that are texts',
    object({ n: { type: 'number', minimum: '0' } }),
    object({ n: { type: 'number' } }),
  ],
  ['a pattern that is none', object({ a: { ...text, pattern: '(?i)^x[' } }), object({ a: text })],
  ['anyOf without branches', object({ a: { anyOf: [] } }), object({ a: {} })],
  ['a reference that leads nowhere', object({ a: { $ref: '#/$defs/Gone' } }), object({ a: {} })],
  [
    'a reference to another document',
    object({ a: { $ref: 'https://example.com/s.json' } }),
    object({ a: {} }),
  ],
  [
    'a reference into the properties',
    object({ headers: object({ k: text }), all: { type: 'array', items: { $ref: '#/properties/headers' } } }),
    object({ headers: object({ k: text }), all: { type: 'array', items: object({ k: text }) } }),
  ],
  [
    'an identifier that moves references',
    { ...object({ a: text }), $id: 'https://example.com/x' },
    object({ a: text }),
  ],
  [
    'a schema that contains itself',
    object(
      { tree: { $ref: '#/$defs/Node' } },
      { $defs: { Node: object({ next: { $ref: '#/$defs/Node' } }) } },
    ),
    null,
  ],
  ['a schema that contains itself at the root', object({ next: { $ref: '#' } }), null],
  [
    'items that may be null',
    object({ a: { type: ['array', 'null'], items: { type: ['object', 'null'], properties: { v: true } } } }),
    null,
  ],
  ['a choice of whole numbers', object({ n: { type: 'integer', enum: [0, 1, 2] } }), null],
  ['formats', object({ a: { ...text, format: 'uri' }, b: { ...text, format: 'date-time' } }), null],
  ['allOf further in', object({ a: { allOf: [object({ b: text }), object({ c: text })] } }), null],
  [
    'a choice with something beside it',
    object({ a: { description: 'x', default: 1, anyOf: [text, { type: 'null' }] } }),
    null,
  ],
  ['a constant', object({ a: { const: 'x' }, b: { const: 7 } }), null],
  [
    'keywords of a vendor',
    object({ a: { ...text, 'x-mcp-header': 'A', nullable: true, example: 'x' } }),
    null,
  ],
  [
    'an object without properties further in',
    object({ a: { type: 'object', properties: {}, additionalProperties: true } }),
    null,
  ],
  ['required that is not there', object({ a: text }, { required: ['a', 'b'] }), null],
];

const providers: Provider[][] = [
  ['openai'],
  ['anthropic'],
  ['openai', 'anthropic'],
  ['openai', 'anthropic', 'google'],
];

describe.each(rejected)('%s', (_, schema, expected) => {
  test.each(providers)('is rewritten for %s', (...of) => {
    const given = structuredClone(schema);
    const fitted = fitSchema(schema, of);
    if (fitted.kind === 'unfit') throw new Error(fitted.reason);
    expect(of.flatMap((provider) => violations(fitted.schema, provider))).toEqual([]);
    expect(new Ajv2020({ strict: false }).validateSchema(fitted.schema)).toBe(true);
    expect(fitted.schema).toEqual(of.includes('google') ? fitted.schema : (expected ?? fitted.schema));
    // Twice is once, and nobody else's schema is touched.
    expect(fitSchema(fitted.schema, of)).toMatchObject({ schema: fitted.schema, names: {} });
    expect(schema).toEqual(given);
  });
});

test('most of these are rejected as they come, or the table proves nothing', () => {
  const sound = rejected.filter(([, schema]) =>
    ['openai', 'anthropic', 'google'].every(
      (provider) => violations(schema, provider as Provider).length === 0,
    ),
  );
  expect(sound.map(([name]) => name)).toEqual([]);
});

test('what providers accept stays as it is', () => {
  const schema = object(
    {
      title: { type: 'string', format: 'uri', minLength: 1, 'x-mcp-header': 'Title' },
      list: { type: 'array', items: { $ref: '#/$defs/Item' } },
      choice: { anyOf: [text, { type: 'null' }], default: null },
    },
    {
      required: ['title'],
      additionalProperties: false,
      $defs: { Item: object({ next: { $ref: '#/$defs/Item' } }) },
    },
  );
  for (const of of [['openai'], ['anthropic'], ['openai', 'anthropic']] as Provider[][])
    expect(fitSchema(schema, of)).toEqual({ kind: 'fits', schema, names: {}, changes: [] });
  const broken = { anyOf: [] };
  expect(fitSchema(broken, [])).toEqual({ kind: 'fits', schema: broken, names: {}, changes: [] });
});

test.each<[string, Schema, RegExp]>([
  ['arguments that are a list', { type: 'array', items: text }, /of type "array"/],
  ['arguments that are one of two texts', { anyOf: [text, { type: 'number' }] }, /no object/],
  ['a schema that grows without end', explosive(30), /too large/],
  ['a schema that is too deep for the stack', deep(60_000), /too deeply/],
])('%s cannot be offered', (_, schema, reason) => {
  expect(fitSchema(schema, ['openai', 'google'])).toEqual({
    kind: 'unfit',
    reason: expect.stringMatching(reason),
  });
});

test('what was rewritten is said', () => {
  const schema = {
    anyOf: [{ required: ['filter[name]'] }],
    properties: { 'filter[name]': text, tags: { type: 'array' } },
  };
  expect(fitSchema(schema, ['anthropic'])).toMatchObject({
    changes: [
      'filter[name] is offered as filter_name',
      'anyOf at the root is merged',
      'tags has no items: they may be anything',
    ],
  });
});

describe('arguments go to the server under its own names', () => {
  const schema = object({
    'filter[name]': text,
    filter_name: text,
    rows: { type: 'array', items: { anyOf: [object({ 'a b': text }), { $ref: '#/$defs/Row' }] } },
    free: { type: 'object', additionalProperties: true },
  });
  const defined = { ...schema, $defs: { Row: object({ 'c d': text, more: { $ref: '#/$defs/Row' } }) } };

  test.each(providers)('for %s', (...of) => {
    const fitted = fitSchema(defined, of);
    if (fitted.kind === 'unfit') throw new Error(fitted.reason);
    const [renamed = ''] = Object.entries(fitted.names).flatMap(([name, own]) =>
      own === 'filter[name]' ? [name] : [],
    );
    expect(renamed).toMatch(/^filter_name_[0-9a-f]{8}$/);
    // A schema that contains itself ends somewhere for Google; what is below has no names of its own.
    const more = of.includes('google') ? { c_d: '3' } : { 'c d': '3' };
    const said = {
      [renamed]: 'x',
      filter_name: 'y',
      rows: [{ a_b: '1' }, { c_d: '2', more: { c_d: '3' } }],
      free: { a_b: 'as it is', [renamed]: 'as it is' },
      unknown: { a_b: 'as it is' },
    };
    expect(withOwnNames(said, fitted.schema, fitted.names)).toEqual({
      'filter[name]': 'x',
      filter_name: 'y',
      rows: [{ 'a b': '1' }, { 'c d': '2', more }],
      free: { a_b: 'as it is', [renamed]: 'as it is' },
      unknown: { a_b: 'as it is' },
    });
  });

  test('whatever a model says instead of an object', () => {
    expect(withOwnNames('words', {}, { a: 'b' })).toBe('words');
    expect(withOwnNames(null, object({ a: text }), { a: 'b' })).toBe(null);
  });
});

test.each([
  ['openai:gpt-6', undefined, ['openai']],
  ['anthropic:claude', undefined, ['anthropic']],
  ['openai-compatible:llama', 'http://127.0.0.1/v1', ['openai', 'anthropic']],
  ['openai-compatible:google/gemini-4', 'https://gateway.example/v1', ['openai', 'anthropic', 'google']],
  [
    'openai-compatible:x',
    'https://generativelanguage.googleapis.com/v1beta/openai',
    ['openai', 'anthropic', 'google'],
  ],
  ['scripted', undefined, []],
])('the rules for %s at %s are those of %j', (spec, baseURL, expected) => {
  expect(providersOf(spec, baseURL)).toEqual(expected);
});

function explosive(levels: number): Schema {
  const $defs: Schema = {};
  for (let level = 0; level < levels; level++) {
    const next = level + 1 < levels ? { $ref: `#/$defs/L${level + 1}` } : text;
    $defs[`L${level}`] = object({ a: next, b: next });
  }
  return object({ a: { $ref: '#/$defs/L0' } }, { $defs });
}

function deep(levels: number): Schema {
  let schema: Schema = text;
  for (let level = 0; level < levels; level++) schema = object({ a: schema });
  return schema;
}
