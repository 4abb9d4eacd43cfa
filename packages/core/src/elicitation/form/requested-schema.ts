/**
 * Reads MCP's restricted JSON Schema of a form into fields that every client can show. The schema is untrusted: what is not
 * understood is refused with a reason, instead of being shown in part.
 */
import { isLargerThan } from '../json-size.ts';
import { inWords } from '../wording.ts';
import { checkInput } from './check-form.ts';
import { textFormats } from './field.ts';
import type { Choice, ChoicesInput, Field, Input, NumberInput, TextInput } from './field.ts';
import { isRecord, quoted, refuseKeywords, textOf, Unsupported } from './schema-keywords.ts';
import type { Schema } from './schema-keywords.ts';

type RequestedSchema = { kind: 'form'; fields: Field[] } | { kind: 'unsupported'; reason: string };

/** Far more than a person fills in. */
const limits = { characters: 64 * 1024, fields: 64, nameLength: 128 };

/** `reason` is one sentence for the model and the author of the server. */
export function readRequestedSchema(schema: unknown): RequestedSchema {
  try {
    return { kind: 'form', fields: readFields(schema) };
  } catch (error) {
    if (error instanceof Unsupported) return { kind: 'unsupported', reason: error.message };
    throw error;
  }
}

/** None if a form cannot show the schema. */
export function fieldsOf(schema: unknown): Field[] {
  const form = readRequestedSchema(schema);
  return form.kind === 'form' ? form.fields : [];
}

function readFields(schema: unknown): Field[] {
  if (!isRecord(schema) || (schema['type'] ?? ('properties' in schema && 'object')) !== 'object')
    throw new Unsupported('The schema of a form must be an object schema (`"type": "object"`).');
  if (isLargerThan(schema, limits.characters))
    throw new Unsupported(`The schema has more than ${limits.characters} characters.`);
  refuseKeywords(schema, 'The schema', ['properties']);
  const properties = schema['properties'] ?? {};
  if (!isRecord(properties))
    throw new Unsupported('"properties" must be an object with one schema per field.');
  const names = Object.keys(properties);
  if (names.length > limits.fields)
    throw new Unsupported(`A form may have at most ${limits.fields} fields; this one has ${names.length}.`);
  names.forEach(checkName);
  const required = readRequired(schema['required'], names);
  return names.map((name) => readField(name, properties[name], required.has(name)));
}

function checkName(name: string): void {
  if (name === '') throw new Unsupported('A field must have a name.');
  if (name.length > limits.nameLength)
    throw new Unsupported(`The field name ${quoted(name)} is longer than ${limits.nameLength} characters.`);
  // Careful JSON parsers refuse an answer with this member.
  if (name === '__proto__') throw new Unsupported(`No field may be named ${quoted(name)}.`);
}

function readRequired(required: unknown, names: string[]): Set<string> {
  if (required === undefined) return new Set();
  if (!Array.isArray(required) || !required.every((name) => typeof name === 'string'))
    throw new Unsupported('"required" must be a list of field names.');
  const known = new Set(names);
  const unknown = required.find((name) => !known.has(name));
  if (unknown !== undefined)
    throw new Unsupported(`"required" names ${quoted(unknown)}, which is not a field of the form.`);
  return new Set(required);
}

/** The content of an untouched form. */
export function defaultsOf(fields: Field[]): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field) => (field.default === undefined ? [] : [[field.name, field.default]])),
  );
}

export function readField(name: string, given: unknown, isRequired: boolean): Field {
  const what = `The field ${quoted(name)}`;
  if (!isRecord(given)) throw new Unsupported(`${what} must be described by a schema.`);
  const schema = withoutNull(given);
  const input = readInput(schema, what);
  const description = helpFrom(schema, input);
  return {
    name,
    title: textOf(schema['title']) ?? titleFrom(name),
    ...(description !== undefined && { description }),
    isRequired,
    ...input,
  };
}

/** Adds examples to the description, which every client shows. Choices need no examples. */
function helpFrom({ description, examples }: Schema, input: Input): string | undefined {
  const about = textOf(description);
  const shown = ('choices' in input ? [] : [examples].flat())
    .filter((one) => textOf(one) ?? isNumber(one))
    .slice(0, 3)
    .map((one) => String(one).slice(0, 80))
    .join(', ');
  return shown ? (about ? `${about} (e.g. ${shown})` : `e.g. ${shown}`) : about;
}

function readInput(schema: Schema, what: string): Input {
  if (schema['type'] === 'object') throw new Unsupported(`${what} is an object; a form is flat.`);
  const enumeration = readEnumeration(schema, what);
  const type = schema['type'] ?? (enumeration && 'string');
  refuseKeywords(schema, what, [...(enumeration?.keywords ?? []), ...(type === 'array' ? ['items'] : [])]);
  switch (type) {
    case 'string': {
      if (!enumeration) return readText(schema, what);
      return withDefault({ kind: 'choice', choices: enumeration.choices }, schema, isText);
    }
    case 'number':
    case 'integer':
      return readNumber(schema, what, type === 'integer');
    case 'boolean':
      return withDefault({ kind: 'boolean' }, schema, isYesNo);
    case 'array':
      return readChoices(schema, what);
    default:
      throw new Unsupported(`${what} must be a string, number, integer, boolean or an array of choices.`);
  }
}

function readText(schema: Schema, what: string): TextInput {
  const format = textFormats.find((known) => known === schema['format']);
  const pattern = schema['pattern'];
  if (pattern !== undefined && !isText(pattern))
    throw new Unsupported(`${what} has a "pattern" that is not a text.`);
  const input: TextInput = {
    kind: 'text',
    ...(format && { format }),
    ...countOf(schema, 'minLength', what),
    ...countOf(schema, 'maxLength', what),
    ...(pattern !== undefined && { pattern }),
  };
  checkRange(input.minLength, input.maxLength, what);
  return withDefault(input, schema, isText);
}

function readNumber(schema: Schema, what: string, isInteger: boolean): NumberInput {
  const input: NumberInput = {
    kind: 'number',
    isInteger,
    ...limitOf(schema, 'minimum', what),
    ...limitOf(schema, 'maximum', what),
    ...limitOf(schema, 'exclusiveMinimum', what),
    ...limitOf(schema, 'exclusiveMaximum', what),
    ...limitOf(schema, 'multipleOf', what),
  };
  checkRange(input.minimum, input.maximum, what);
  if (input.multipleOf !== undefined && input.multipleOf <= 0)
    throw new Unsupported(`${what} has a "multipleOf" that is not greater than 0.`);
  return withDefault(input, schema, isNumber);
}

function readChoices(schema: Schema, what: string): ChoicesInput {
  const items = schema['items'];
  const of = `${what}, in "items",`;
  if (!isRecord(items)) throw new Unsupported(`${what} is a list that does not name its choices.`);
  if (items['type'] === 'object') throw new Unsupported(`${what} is a list of objects; a form is flat.`);
  const enumeration = readEnumeration(items, of);
  refuseKeywords(items, of, enumeration?.keywords);
  if (!enumeration || (items['type'] ?? 'string') !== 'string')
    throw new Unsupported(`${what} is a list; only lists of choices can be shown.`);
  const { choices } = enumeration;
  const input: ChoicesInput = {
    kind: 'choices',
    choices,
    ...countOf(schema, 'minItems', what),
    ...countOf(schema, 'maxItems', what),
  };
  checkRange(input.minItems, Math.min(input.maxItems ?? Infinity, choices.length), what);
  return withDefault(input, schema, isTexts);
}

/**
 * Ignores a default that is not valid for the field, and every default of a field with a pattern, which is not tried here:
 * an untouched field must not fail.
 */
function withDefault<Of extends Input, T>(input: Of, schema: Schema, isKind: (value: unknown) => value is T) {
  const value = schema['default'];
  return isKind(value) && !checkInput(input, value, noPattern) ? { ...input, default: value } : input;
}

const noPattern = () => false;

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function isYesNo(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}

function countOf<K extends string>(schema: Schema, keyword: K, what: string): { [key in K]?: number } {
  const limit = limitOf(schema, keyword, what);
  const count = limit[keyword];
  if (count !== undefined && (!Number.isInteger(count) || count < 0))
    throw new Unsupported(`${what} has a "${keyword}" that is not a whole number from 0 on.`);
  return limit;
}

function limitOf<K extends string>(schema: Schema, keyword: K, what: string): { [key in K]?: number } {
  const limit = schema[keyword];
  if (limit === undefined) return {};
  if (!isNumber(limit) || !Number.isFinite(limit))
    throw new Unsupported(`${what} has a "${keyword}" that is not a number.`);
  return { [keyword]: limit } as { [key in K]?: number };
}

function checkRange(least: number | undefined, most: number | undefined, what: string): void {
  if (least !== undefined && most !== undefined && least > most)
    throw new Unsupported(`${what} cannot be answered: its least is ${least}, its most is ${most}.`);
}

/** Some generators write `string | null` for "optional": then the field is the other part. */
function withoutNull(schema: Schema): Schema {
  const { type, anyOf, oneOf, ...rest } = schema;
  if (Array.isArray(type)) {
    const [only, ...others] = type.filter((word) => word !== 'null');
    return others.length > 0 ? schema : { ...schema, type: only };
  }
  const parts = anyOf ?? oneOf;
  if (type !== undefined || (anyOf && oneOf) || !Array.isArray(parts) || parts.length !== 2) return schema;
  const [only, ...others] = parts.filter((part) => !isRecord(part) || part['type'] !== 'null');
  return others.length === 0 && isRecord(only) ? { ...only, ...rest } : schema;
}

function titleFrom(name: string): string {
  // Only for ASCII: other scripts have no word breaks that are so easy to find.
  const words = /^[\x20-\x7e]+$/.test(name) ? inWords(name) : '';
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1);
}

const maximalChoices = 500;

interface Enumeration {
  choices: Choice[];
  /** The keywords of the schema that contain them. */
  keywords: string[];
}

/** Reads the values of a choice in all notations that MCP has had. Undefined if the schema does not list its values. */
function readEnumeration(schema: Schema, what: string): Enumeration | undefined {
  const keyword = ['enum', 'oneOf', 'anyOf'].find((candidate) => Array.isArray(schema[candidate]));
  const members = keyword && schema[keyword];
  if (keyword === undefined || !Array.isArray(members)) return undefined;
  if (members.length > maximalChoices)
    throw new Unsupported(`${what} has ${members.length} choices; at most ${maximalChoices} are possible.`);
  const isEnum = keyword === 'enum';
  const named = (name: string) => members.map((member) => (isRecord(member) ? member[name] : undefined));
  const choices = isEnum
    ? fromValues(members, schema['enumNames'])
    : fromValues(named('const'), named('title'));
  if (!choices) {
    if (!isEnum) return undefined;
    throw new Unsupported(`${what} must have only texts in its "enum".`);
  }
  if (choices.length === 0) throw new Unsupported(`${what} has no choices.`);
  // Equal values are one choice.
  const distinct = choices.filter(
    ({ value }, index) => choices.findIndex((choice) => choice.value === value) === index,
  );
  return { choices: distinct, keywords: [keyword] };
}

/** Some generators add null to the values for "optional". */
function fromValues(values: unknown[], names: unknown): Choice[] | undefined {
  if (!values.every((value) => typeof value === 'string' || value === null)) return undefined;
  const titles: unknown[] = Array.isArray(names) ? names : [];
  return values.flatMap((value, index) =>
    value === null ? [] : [{ value, title: textOf(titles[index]) ?? value }],
  );
}
