/** The rules of providers as a check of its own: what they would say of a schema. */
import type { Provider } from '../../src/models/tool-schema/provider-rules.ts';

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is wrong with a tool's input schema for this provider. */
export function violations(schema: unknown, provider: Provider): string[] {
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
