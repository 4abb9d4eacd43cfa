import { plainText } from '../plain-text.ts';

/** What all readers of untrusted schemas need: keywords, errors, and the schema as clients may show it. */
export type Schema = Record<string, unknown>;

/** A schema that a form cannot show. The message is the reason. */
export class Unsupported extends Error {
  override name = 'Unsupported';
}

/** Keywords that would give a form a meaning that its fields do not show. Other unknown keywords are annotations. */
const meaningful = new Set(
  (
    '$ref $dynamicRef $recursiveRef allOf anyOf oneOf not if then else const enum items prefixItems ' +
    'additionalItems unevaluatedItems contains properties patternProperties propertyNames unevaluatedProperties ' +
    'minProperties maxProperties dependencies dependentRequired dependentSchemas'
  ).split(' '),
);

export function refuseKeywords(schema: Schema, what: string, known: readonly string[] = []): void {
  const found = Object.keys(schema).find((keyword) => meaningful.has(keyword) && !known.includes(keyword));
  if (found !== undefined) throw new Unsupported(`${what} uses "${found}", which a form cannot show.`);
}

/** Keywords that contain data, in which null has a meaning. */
const data = new Set(['const', 'default', 'enum', 'examples']);
const mayBeNull = new Set(['const', 'default']);
/** Keywords that contain schemas by name. */
const maps = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']);
/** Deeper schemas are refused elsewhere, and would overflow the stack here. */
const deepest = 64;

/** Removes keywords that are null, at every level. Replaces an empty list by an empty object, which PHP cannot express. */
export function withoutNullKeywords<T>(schema: T, depth = 0): T {
  if (depth > deepest || typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((item: unknown) => withoutNullKeywords(item, depth + 1)) as T;
  const members = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (value === null) return mayBeNull.has(keyword) ? [[keyword, value]] : [];
    if (data.has(keyword)) return [[keyword, value]];
    return [[keyword, maps.has(keyword) ? schemasIn(value, depth) : withoutNullKeywords(value, depth + 1)]];
  });
  return Object.fromEntries(members) as T;
}

function schemasIn(map: unknown, depth: number): unknown {
  if (Array.isArray(map) && map.length === 0) return {};
  if (!isRecord(map)) return map;
  const schemas = Object.entries(map).filter(([, schema]) => schema !== null);
  return Object.fromEntries(schemas.map(([name, schema]) => [name, withoutNullKeywords(schema, depth + 2)]));
}

/** The members that are neither null nor undefined: most JSON writers use null for absent members. */
export function presentMembers<T extends object>(members: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const present = Object.entries(members).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(present) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** The same at every depth. Not for data. PHP writes an empty object as an empty list. */
export function allPresent(value: unknown, depth = 0): Schema {
  if (!isRecord(value)) return {};
  const members = Object.entries(presentMembers(value)).map(([name, member]): [string, unknown] => [
    name,
    depth < deepest && (isEmptyList(member) || isRecord(member)) ? allPresent(member, depth + 1) : member,
  ]);
  return Object.fromEntries(members);
}

export function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** For zod schemas of received objects. */
export function readPresent(value: unknown): unknown {
  return isRecord(value) ? presentMembers(value) : value;
}

export function isRecord(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text, unless it is blank or no text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** An untrusted word, quoted and short enough for a sentence. */
export function quoted(word: string): string {
  return JSON.stringify(word.length > 64 ? `${word.slice(0, 63)}…` : word);
}

/** A form is flat, so deeper values are annotations, and would be too deep for recursive readers. */
const deepestShown = 12;

/** What is sent back to the server must stay unchanged, so a trick in it is refused instead of removed. */
const sentBack = new Set(['const', 'enum', 'required']);
const readByProgramsOnly = new Set(['pattern', 'format', 'type', '$schema', '$id', '$comment']);

/**
 * The schema of a form for any client: texts for people are made plain. Throws `Unsupported`. Call it only after
 * `readRequestedSchema`, which limits the size.
 */
export function plainSchema(schema: Schema): Schema {
  return plain(schema, '', 0) as Schema;
}

function plain(value: unknown, keyword: string, depth: number): unknown {
  if (depth > deepestShown)
    throw new Unsupported(`The schema is nested more than ${deepestShown} levels deep.`);
  if (typeof value === 'string') {
    if (sentBack.has(keyword)) return withoutTricks(value);
    return readByProgramsOnly.has(keyword) ? value : plainText(value);
  }
  if (Array.isArray(value)) return value.map((item) => plain(item, keyword, depth + 1));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [withoutTricks(name), plain(member, name, depth + 1)]),
  );
}

function withoutTricks(word: string): string {
  if (plainText(word) === word) return word;
  const what = 'a name or a value with control characters, or with marks that turn the direction of writing';
  throw new Unsupported(`The schema has ${what}: ${quoted(plainText(word))}.`);
}
