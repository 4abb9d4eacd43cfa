import { describe, expect, test } from 'vitest';
import { checkForm } from '../src/form-check.ts';
import { defaultsOf, readRequestedSchema } from '../src/elicitation/form/requested-schema.ts';
import type { Field } from '../src/elicitation/form/field.ts';
import { processorMs } from '../../../test/processor-ms.ts';

type Schema = Record<string, unknown>;

function read(properties: Schema, required: string[] = []): Field[] {
  const schema = readRequestedSchema({ type: 'object', properties, required });
  if (schema.kind === 'unsupported') throw new Error(schema.reason);
  return schema.fields;
}

/** What is said about one field, if anything. */
function said(schema: Schema, value: unknown): string | undefined {
  const misfits = checkForm(read({ field: schema }), { field: value });
  expect(misfits.length).toBeLessThan(2);
  return misfits[0]?.detail;
}

const colour = {
  type: 'string',
  oneOf: [
    { const: '#f00', title: 'Red' },
    { const: 'green', title: 'green' },
  ],
};
const colours = { type: 'array', items: colour };
const email = 'must be an email address, such as name@example.com';
const uri = 'must be an address, such as https://example.com/page';
const date = 'must be a date, such as 2026-01-31';
const moment = 'must be a date and a time with its zone, such as 2026-01-31T09:30:00Z';
const oneOf = 'must be one of: Red (#f00), green';
const listOf = 'must be a list of some of: Red (#f00), green';

describe('what fits is taken:', () => {
  const cases: [schema: Schema, value: unknown][] = [
    [{ type: 'string' }, ''],
    [{ type: 'string', minLength: 2, maxLength: 2 }, '🙂🙂'],
    [{ type: 'string', format: 'email' }, "o'brien+x@example.co.uk"],
    [{ type: 'string', format: 'uri' }, 'urn:isbn:0451450523'],
    [{ type: 'string', format: 'date' }, '2028-02-29'],
    [{ type: 'string', format: 'date-time' }, '2026-11-21T09:30:00+01:00'],
    [{ type: 'string', pattern: '^\\p{Lu}-\\d+$' }, 'Ä-12'],
    [{ type: 'number', minimum: 0, maximum: 1 }, 1],
    [{ type: 'number', multipleOf: 0.01 }, 19.99],
    [{ type: 'integer' }, -0],
    [{ type: 'boolean' }, false],
    [colour, '#f00'],
    [colours, ['green', '#f00']],
    [colours, []],
  ];
  test.each(cases)('%j: %j', (schema, value) => {
    expect(said(schema, value)).toBeUndefined();
  });
});

describe('what does not fit is named in words, without what was written:', () => {
  const cases: [schema: Schema, value: unknown, detail: string][] = [
    [{ type: 'string' }, 7, 'must be a text'],
    [{ type: 'string' }, null, 'must be a text'],
    [{ type: 'string' }, ['x'], 'must be a text'],
    [{ type: 'string' }, { nested: 'x' }, 'must be a text'],
    [{ type: 'string', minLength: 3 }, 'xy', 'must be at least 3 characters'],
    [{ type: 'string', minLength: 1 }, '', 'must be at least 1 character'],
    [{ type: 'string', maxLength: 2 }, 'xyz', 'must be at most 2 characters'],
    [{ type: 'string', format: 'email' }, 'nobody', email],
    [{ type: 'string', format: 'email' }, 7, email],
    [{ type: 'string', format: 'uri' }, 'example', uri],
    [{ type: 'string', format: 'date' }, '2026-02-30', date],
    [{ type: 'string', format: 'date' }, '21.11.2026', date],
    [{ type: 'string', format: 'date-time' }, '2026-11-21T09:30', moment],
    [{ type: 'string', pattern: '^[A-Z]+$' }, 'abc', 'must match ^[A-Z]+$'],
    [{ type: 'number' }, 'seven', 'must be a number'],
    [{ type: 'number' }, true, 'must be a number'],
    [{ type: 'integer' }, 1.5, 'must be a whole number'],
    [{ type: 'integer' }, 2 ** 53, 'must be at most 9007199254740991'],
    [{ type: 'integer', maximum: 2 ** 60 }, 2 ** 54, 'must be at most 9007199254740991'],
    [{ type: 'integer' }, -(2 ** 53), 'must be at least -9007199254740991'],
    [{ type: 'number', minimum: 1 }, 0.5, 'must be at least 1'],
    [{ type: 'number', maximum: 1 }, 1.5, 'must be at most 1'],
    [{ type: 'number', exclusiveMinimum: 0 }, 0, 'must be more than 0'],
    [{ type: 'number', exclusiveMaximum: 5 }, 5, 'must be less than 5'],
    [{ type: 'number', multipleOf: 0.5 }, 0.75, 'must be a multiple of 0.5'],
    [{ type: 'boolean' }, 'perhaps', 'must be yes or no (true or false)'],
    [{ type: 'boolean' }, 1, 'must be yes or no (true or false)'],
    [colour, 'blue', oneOf],
    [colour, ['green'], oneOf],
    [colours, 'green', listOf],
    [colours, ['blue', 'grey'], listOf],
    [colours, [7], listOf],
    [colours, ['green', 'green'], 'must not have the same choice twice'],
    [{ ...colours, minItems: 1 }, [], 'must have at least 1 of: Red (#f00), green'],
    [{ ...colours, maxItems: 1 }, ['green', '#f00'], 'must have at most 1 of: Red (#f00), green'],
  ];
  test.each(cases)('%j: %j', (schema, value, detail) => {
    expect(said(schema, value)).toBe(detail);
  });

  test('of many choices the first twenty are told', () => {
    const detail = said({ enum: Array.from({ length: 500 }, (_, n) => `v${n}`) }, 'w');
    expect(detail).toMatch(/^must be one of: v0, v1, .*, v19 and 480 more$/);
  });

  test('every wrong field has one entry, also those that are missing or unknown', () => {
    const fields = read(
      {
        'a/b~c': { type: 'string', minLength: 2, format: 'email' },
        d: colours,
        e: {
          type: 'integer',
        },
      },
      ['e'],
    );
    const misfits = checkForm(fields, { 'a/b~c': 'x', d: ['x', 'y'], f: { deep: [] } });
    expect(misfits.toSorted((one, other) => one.name.localeCompare(other.name))).toEqual([
      { name: 'a/b~c', detail: 'must be at least 2 characters' },
      { name: 'd', detail: listOf },
      { name: 'e', detail: 'is required' },
      { name: 'f', detail: 'is not a field of this form; leave it out' },
    ]);
  });
});

describe('names that mean something to JavaScript', () => {
  const names = [
    'constructor',
    'toString',
    'hasOwnProperty',
    'length',
    "'];process.exit();//",
    '`${1}`\u2028',
  ];
  const fields = read(Object.fromEntries(names.map((name) => [name, { type: 'integer' }])), names);

  test('are missing when they are missing', () => {
    expect(checkForm(fields, {}).map(({ name, detail }) => [name, detail])).toEqual(
      names.map((name) => [name, 'is required']),
    );
  });

  test('are checked like any other', () => {
    const answer = Object.fromEntries(names.map((name) => [name, 'x']));
    expect(checkForm(fields, answer).map(({ detail }) => detail)).toEqual(
      names.map(() => 'must be a whole number'),
    );
    expect(checkForm(fields, Object.fromEntries(names.map((name) => [name, 1])))).toEqual([]);
  });

  test('are unknown when the form does not have them', () => {
    const answer = JSON.parse('{"__proto__":1,"toString":2}') as Record<string, unknown>;
    expect(checkForm([], answer).map(({ name }) => name)).toEqual(['__proto__', 'toString']);
  });
});

describe('a pattern', () => {
  test('is not confused with that of another field', () => {
    const fields = read({ a: { type: 'string', pattern: '^a$' }, b: { type: 'string', pattern: '^b$' } });
    expect(checkForm(fields, { a: 'a', b: 'b' })).toEqual([]);
    expect(checkForm(fields, { a: 'b', b: 'a' }).map(({ name }) => name)).toEqual(['a', 'b']);
  });

  test.each(['(?P<year>\\d+)', '^x\\Z', '(', `^y${'z?'.repeat(1_000)}$`])(
    'that is no JavaScript, or too long, is left to the server: %s',
    (pattern) => {
      expect(said({ type: 'string', pattern }, 'anything')).toBeUndefined();
    },
  );

  test('that never ends is left to the server, and all of a form together take no longer than one', () => {
    const names = Array.from({ length: 64 }, (_, n) => `f${n}`);
    const fields = read(
      Object.fromEntries(names.map((name, n) => [name, { type: 'string', pattern: `^(a|a)*$${n}` }])),
    );
    const content = Object.fromEntries(names.map((name) => [name, `${'a'.repeat(50)}!`]));
    expect(processorMs(() => expect(checkForm(fields, content)).toEqual([]))).toBeLessThan(500);
  });
});

describe('a large answer is judged at once:', () => {
  const wide = { type: 'array', items: { enum: Array.from({ length: 500 }, (_, n) => `v${n}`) } };
  const cases: [what: string, schema: Schema, value: unknown][] = [
    ['a list that goes on and on', wide, Array.from({ length: 300_000 }, () => 'x')],
    ['an email address', { type: 'string', format: 'email' }, `a@${'a.'.repeat(500_000)}`],
    ['an email address of dashes', { type: 'string', format: 'email' }, `a@${'a-'.repeat(500_000)}`],
    ['an address', { type: 'string', format: 'uri' }, `http://[${'1:'.repeat(500_000)}`],
    ['a moment', { type: 'string', format: 'date-time' }, '2026-'.repeat(200_000)],
  ];
  test.each(cases)('%s', (_what, schema, value) => {
    expect(processorMs(() => expect(said(schema, value)).toBeDefined())).toBeLessThan(1_000);
  });
});

test('whatever a schema says, the defaults that its form shows fit it', () => {
  const next = randomFrom(20261121);
  const pick = <T>(values: T[]): T => values[Math.floor(next() * values.length)]!;
  const maybe = (keyword: string, values: unknown[]) => (next() < 0.5 ? { [keyword]: pick(values) } : {});
  const texts = (
    'a|ab|abc|🙂|🙂🙂|a@b.co|a b@c.de|a@b|A.B@c-d.example|.a@b.co|a@-b.co|https://a.b/c?d#e|http://a b|' +
    'https://a/%zz|https://a/%20|ftp://h:1/x#y#z|http://u@h/|mailto:a@b.c|https://[::1]/|2026-02-28|2026-02-29|' +
    '0000-01-01|2026-1-1|2026-11-21T10:00:00Z|2026-11-21t10:00:00z|2026-11-21T24:00:00Z|2026-11-21T23:59:60Z|' +
    '2026-11-21T10:00:00.123456+14:00|'
  ).split('|');
  const numbers = [-1, 0, 0.1, 0.3, 0.5, 1, 1.5, 2, 3, 10, 19.99, 2 ** 53, 1e300];
  const lists = [[], ['a'], ['a', 'b'], ['a', 'a'], ['z'], ['c', 'b', 'a'], [1]];
  const anything = [...texts, ...numbers, ...lists, true, false, null, {}];
  const makers: (() => [schema: Schema, likely: unknown[]])[] = [
    () => [
      {
        type: 'string',
        ...maybe('format', ['email', 'uri', 'date', 'date-time', 'other']),
        ...maybe('minLength', [0, 1, 2]),
        ...maybe('maxLength', [2, 8, 50]),
      },
      texts,
    ],
    () => [
      {
        type: pick(['number', 'integer']),
        ...maybe('minimum', [-1, 0, 0.5]),
        ...maybe('maximum', [1, 2, 1e301]),
        ...maybe('exclusiveMinimum', [-1, 0]),
        ...maybe('exclusiveMaximum', [1, 3]),
        ...maybe('multipleOf', [0.01, 0.1, 0.5, 2]),
      },
      numbers,
    ],
    () => [{ type: 'boolean' }, [true, false]],
    () => [{ enum: ['a', 'b', ''] }, ['a', 'b', '', 'c']],
    () => [
      {
        type: 'array',
        items: { enum: ['a', 'b', 'c'] },
        ...maybe('minItems', [0, 1, 2]),
        ...maybe('maxItems', [2, 3, 9]),
      },
      lists,
    ],
  ];
  let [kept, dropped] = [0, 0];
  for (let round = 0; round < 60; round++) {
    const schemas = Array.from({ length: 20 }, (_, n) => {
      const [schema, likely] = pick(makers)();
      return [`f${n}`, { ...schema, default: pick(next() < 0.8 ? likely : anything) }];
    });
    const fields = read(Object.fromEntries(schemas) as Schema);
    const defaults = defaultsOf(fields);
    expect(checkForm(fields, defaults), JSON.stringify([schemas, defaults])).toEqual([]);
    kept += Object.keys(defaults).length;
    dropped += fields.length - Object.keys(defaults).length;
  }
  expect(kept).toBeGreaterThan(300);
  expect(dropped).toBeGreaterThan(300);
});

/** A small generator of pseudo-random numbers: the same ones in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
