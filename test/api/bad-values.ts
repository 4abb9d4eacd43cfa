/**
 * What may be sent in the place of something good, derived from the contract: for every place in a body, and for every
 * parameter, values that its schema does not allow, and values that it allows and that often break programs.
 */
import { resolve } from './contract-document.ts';
import type { Check, Document, Parameter, Schema } from './contract-document.ts';

export interface BadValue {
  name: string;
  /** As it goes over the wire: not everything that can be sent can be written as a value. */
  json: string;
  /** Often trouble, even where the schema allows it. */
  isHostile: boolean;
}

const tower = 5_000;
const quoted = (text: string) => JSON.stringify(text);

const ordinary: [name: string, json: string][] = [
  ['null', 'null'],
  ['yes', 'true'],
  ['a number', '7'],
  ['a fraction', '1.5'],
  ['less than nothing', '-1'],
  ['a text', quoted('text')],
  ['a text with a space', quoted('a b')],
  ['a text that is no ASCII', quoted('ä')],
  ['a way up', quoted('../..')],
  ['129 letters', quoted('x'.repeat(129))],
  ['an empty list', '[]'],
  ['a list of nothing', '[null]'],
  ['an empty object', '{}'],
  ['an object', '{"length":1,"type":7}'],
];

const hostile: [name: string, json: string][] = [
  ['an empty text', '""'],
  ['blanks', '" \\n"'],
  ['a NUL character', '"a\\u0000b"'],
  ['half a character', '"a\\ud800b"'],
  ['a quarter of a million letters', quoted('x'.repeat(250_000))],
  ['more than can be counted', '9007199254740993'],
  ['more than any number', '1e999'],
  ['a tower of lists', '['.repeat(tower) + ']'.repeat(tower)],
  ['a tower of objects', '{"a":'.repeat(tower) + '0' + '}'.repeat(tower)],
];

const badValues: BadValue[] = [
  ...ordinary.map(([name, json]) => ({ name, json, isHostile: false })),
  ...hostile.map(([name, json]) => ({ name, json, isHostile: true })),
];

type Path = (string | number)[];

export interface BadBody {
  /** Where it is bad, as a JSON pointer. */
  pointer: string;
  /** The same with `*` for every position in a list. */
  place: string;
  what: string;
  /** Whether the contract says that this is wrong. */
  isForbidden: boolean;
  text: string;
}

interface Place {
  path: Path;
  /** None for a member that is in the example only. */
  schema: Schema | null;
  value: unknown;
  /** May be left out, and null means the same. */
  isOptional: boolean;
}

/** Everything that can be wrong with one member of `example`, one at a time. */
export function badBodies(document: Document, check: Check, schema: Schema, example: unknown): BadBody[] {
  return placesIn({ path: [], schema, value: example, isOptional: false }).flatMap(
    ({ path, schema: here, value, isOptional }) => [
      ...badValues.flatMap(({ name, json, isHostile }) => {
        if (isOptional && json === 'null') return [];
        const isForbidden = here !== null && check(here, JSON.parse(json)).length > 0;
        return isForbidden || isHostile ? [bad(path, name, isForbidden, replaced(example, path, json))] : [];
      }),
      ...withoutRequired(path, here, value),
      ...withUnknown(path, here, value),
    ],
  );

  function bad(path: Path, what: string, isForbidden: boolean, text: string): BadBody {
    const place = toPointer(path.map((key) => (typeof key === 'number' ? '*' : key)));
    return { pointer: toPointer(path), place, what, isForbidden, text };
  }

  function withoutRequired(path: Path, here: Schema | null, value: unknown): BadBody[] {
    return shapesOf(here, value)
      .flatMap(({ required = [] }) => required)
      .map((name) =>
        bad([...path, name], 'nothing at all', true, replaced(example, [...path, name], undefined)),
      );
  }

  function withUnknown(path: Path, here: Schema | null, value: unknown): BadBody[] {
    if (!isObject(value)) return [];
    const isForbidden = shapesOf(here, value).some(
      ({ additionalProperties }) => additionalProperties === false,
    );
    const added = [...path, 'unknownMember'];
    return [bad(added, 'a member that nobody knows', isForbidden, replaced(example, added, '1'))];
  }

  function placesIn(place: Place): Place[] {
    const { path, schema: here, value } = place;
    if (Array.isArray(value)) {
      const [{ items = null } = {}] = shapesOf(here, value);
      return [
        place,
        ...value.flatMap((item, index) =>
          placesIn({ path: [...path, index], schema: items, value: item, isOptional: false }),
        ),
      ];
    }
    if (!isObject(value)) return [place];
    const shapes = shapesOf(here, value);
    const known = Object.assign({}, ...shapes.map(({ properties }) => properties)) as Record<string, Schema>;
    const isNeeded = (name: string) => shapes.some(({ required = [] }) => required.includes(name));
    const names = new Set([...Object.keys(known), ...Object.keys(value)]);
    return [
      place,
      ...[...names].flatMap((name) =>
        placesIn({
          path: [...path, name],
          schema: known[name] ?? null,
          value: value[name],
          isOptional: name in known && !isNeeded(name),
        }),
      ),
    ];
  }

  /** Of a schema with alternatives, those that the value takes. */
  function shapesOf(here: Schema | null, value: unknown): Schema[] {
    if (here === null) return [];
    const resolved = resolve(document, here);
    const alternatives = resolved.anyOf ?? resolved.oneOf;
    return alternatives
      ? alternatives.filter((one) => check(one, value).length === 0).flatMap((one) => shapesOf(one, value))
      : [resolved];
  }
}

/** Every place of a body that the contract speaks of. */
export function placesOf(document: Document, schema: Schema, place = ''): string[] {
  const { properties = {}, items, maxItems, anyOf = [], oneOf = [] } = resolve(document, schema);
  const inner = [
    ...Object.entries(properties).map(([name, member]) => [`${place}/${name}`, member] as const),
    ...(items && maxItems !== 0 ? [[`${place}/*`, items] as const] : []),
    ...[...anyOf, ...oneOf].map((one) => [place, one] as const),
  ];
  return [...new Set([place, ...inner.flatMap(([at, member]) => placesOf(document, member, at))])];
}

const words = [
  'no such word',
  '-1',
  '0',
  '101',
  '1.5',
  '1e1',
  '0x10',
  'NaN',
  'a b',
  '..',
  'a/b',
  'bm8',
  'eyJ4IjoxfQ',
];
const hostileWords = ['', ' ', 'ä', '9'.repeat(20), '9'.repeat(300), 'x'.repeat(129), 'x'.repeat(4_000)];

/** What a parameter can be that its schema does not allow, or that often breaks programs. */
export function badTexts(
  check: Check,
  { in: where, schema }: Parameter,
): { text: string; isForbidden: boolean }[] {
  const isForbidden = (text: string) => check(schema, fromText(schema, text)).length > 0;
  return (
    [
      ...words.filter(isForbidden),
      ...hostileWords,
      // Headers cannot carry it.
      ...(where === 'header' ? [] : ['a\0b']),
    ]
      // Without it, or with two dots, it is another address; and so it is when it is longer than any parameter.
      .filter((text) => where !== 'path' || (!['', '..'].includes(text) && text.length < 384))
      .map((text) => ({ text, isForbidden: isForbidden(text) }))
  );
}

function fromText({ type }: Schema, text: string): unknown {
  return type === 'integer' && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function toPointer(path: Path): string {
  return path.map((key) => `/${key}`).join('');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const mark = 'here-comes-the-bad-one';

/** The body as text, with `json` in the place of what is at `path`; without that, when there is no `json`. */
function replaced(body: unknown, path: Path, json: string | undefined): string {
  const text = JSON.stringify(put(body, path, json === undefined ? undefined : mark));
  return text.replace(quoted(mark), () => json ?? '');
}

function put(value: unknown, [key, ...rest]: Path, given: string | undefined): unknown {
  if (key === undefined) return given;
  if (Array.isArray(value))
    return value.map((item, index) => (index === key ? put(item, rest, given) : item));
  return { ...(value as object), [key]: put((value as Record<string, unknown>)[key], rest, given) };
}
