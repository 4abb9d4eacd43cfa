/**
 * What a form may ask for: MCP's restricted JSON Schema, read into fields that every client can draw.
 * The schema comes from a stranger, so what is not understood is refused with a reason instead of being half shown.
 */
import { isLargerThan } from '../json-size.ts';
import type { Field } from './field.ts';
import { readField } from './read-field.ts';
import { isRecord, quoted, refuseKeywords, Unsupported } from './schema-keywords.ts';

export type RequestedSchema = { kind: 'form'; fields: Field[] } | { kind: 'unsupported'; reason: string };

/** Far more than anybody fills in; what is larger is no question to a person. */
const limits = { characters: 64 * 1024, fields: 64, nameLength: 128 };

/** `reason` is one sentence that names the field and what is wrong, for the model and the author of the server. */
export function readRequestedSchema(schema: unknown): RequestedSchema {
  try {
    return { kind: 'form', fields: readFields(schema) };
  } catch (error) {
    if (error instanceof Unsupported) return { kind: 'unsupported', reason: error.message };
    throw error;
  }
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
  // No JSON parser that is careful takes an answer with this member.
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

/** What a form shows before anybody touched it. */
export function defaultsOf(fields: Field[]): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field) => (field.default === undefined ? [] : [[field.name, field.default]])),
  );
}
