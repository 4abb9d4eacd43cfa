/** One field of a form, out of the JSON Schema of a stranger. `readRequestedSchema` is the door to it. */
import { checkInput } from './check-form.ts';
import { readEnumeration } from './read-choices.ts';
import type { ChoicesInput, Field, Input, NumberInput, TextFormat, TextInput } from './field.ts';
import { isRecord, quoted, refuseKeywords, textOf, Unsupported } from './schema-keywords.ts';
import type { Schema } from './schema-keywords.ts';
import { inWords } from '../wording.ts';

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

/** Examples are a part of the help, which every client shows. Choices are their own examples. */
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
  const format = formats.find((known) => known === schema['format']);
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

const formats: readonly TextFormat[] = ['email', 'uri', 'date', 'date-time'];

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
 * A default of the wrong kind or outside the field's own limits is not worth a refusal: the field is then empty. So it is
 * where there is a pattern, which nobody tries here: a field must not fail untouched.
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

/** `string | null` is how some generators write "optional": the field is then the part that can be filled in. */
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
  // Other scripts have no word breaks that could be found so simply.
  const words = /^[\x20-\x7e]+$/.test(name) ? inWords(name) : '';
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1);
}
