/** What all readers of a stranger's schema need: its keywords, and the words to refuse it in. */
export type Schema = Record<string, unknown>;

/** Its message is the reason that is given. */
export class Unsupported extends Error {
  override name = 'Unsupported';
}

/** These would make a form mean something that its fields do not show. All else that is unknown is an annotation. */
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

/** What these hold is data, in which null means something. */
const data = new Set(['const', 'default', 'enum', 'examples']);
const mayBeNull = new Set(['const', 'default']);
/** What these hold are schemas by name. */
const maps = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']);
/** Deeper ones are refused elsewhere, and would exhaust the stack here. */
const deepest = 64;

/** A keyword that is null counts as absent, wherever it is. PHP writes an empty object as an empty list. */
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

/** The members that are not null: most writers of JSON mean by null that there is none. */
export function presentMembers<T extends object>(members: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const present = Object.entries(members).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(present) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** The same at every depth, for what holds no data. PHP writes an empty object as an empty list. */
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

/** For schemas of what others send. */
export function readPresent(value: unknown): unknown {
  return isRecord(value) ? presentMembers(value) : value;
}

export function isRecord(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text that says something. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** A stranger's word, short enough for a sentence. */
export function quoted(word: string): string {
  return JSON.stringify(word.length > 64 ? `${word.slice(0, 63)}…` : word);
}
