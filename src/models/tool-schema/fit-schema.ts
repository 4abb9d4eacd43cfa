/**
 * Rewrites the input schema of a tool so that providers accept it. The schema only guides the model, and the server
 * validates the arguments. So unsupported parts are widened or dropped, and a schema that fits stays unchanged. Pure.
 */
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import type { Schema } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { renamedProperties } from './argument-names.ts';
import type { ArgumentNames } from './argument-names.ts';
import { toGoogle } from './google-schema.ts';
import { rulesOf } from './provider-rules.ts';
import type { Provider, ProviderRules } from './provider-rules.ts';
import { mergeRoot, resolve } from './root.ts';

type SchemaKeyword = 'schema' | 'list of schemas' | 'schemas by property' | 'schemas by name';

/** The keywords of JSON Schema 2020-12 whose values are schemas. Unknown keywords have no meaning. */
const schemaKeywords: Record<string, SchemaKeyword | undefined> = {
  properties: 'schemas by property',
  ...all('schemas by name', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'),
  ...all('list of schemas', 'anyOf', 'oneOf', 'allOf', 'prefixItems'),
  ...all('schema', 'items', 'contains', 'not', 'if', 'then', 'else', 'additionalProperties', 'propertyNames'),
  ...all('schema', 'unevaluatedProperties', 'unevaluatedItems'),
};

const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

const isText = (value: unknown) => typeof value === 'string';
const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0;
const isFlag = (value: unknown) => typeof value === 'boolean';
const isFilled = (value: unknown) => Array.isArray(value) && value.length > 0;
const never = () => false;

const valid: Record<string, (value: unknown) => boolean> = {
  type: (value) =>
    Array.isArray(value)
      ? value.length > 0 && value.every(isType) && new Set(value).size === value.length
      : isType(value),
  enum: (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    new Set(value.map((one) => JSON.stringify(one))).size === value.length,
  // Always rewritten.
  required: () => true,
  pattern: isPattern,
  examples: Array.isArray,
  dependentRequired: (value) =>
    isRecord(value) && Object.values(value).every((names) => Array.isArray(names) && names.every(isText)),
  multipleOf: (value) => isNumber(value) && (value as number) > 0,
  // From older drafts, or about the location of schemas.
  dependencies: never,
  $id: never,
  $anchor: never,
  $dynamicRef: never,
  $dynamicAnchor: never,
  $recursiveRef: never,
  $recursiveAnchor: never,
  $ref: never,
  ...all(
    isText,
    'title',
    'description',
    'format',
    '$schema',
    '$comment',
    'contentMediaType',
    'contentEncoding',
  ),
  ...all(isNumber, 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'),
  ...all(isCount, 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'),
  ...all(isCount, 'minContains', 'maxContains'),
  ...all(isFlag, 'uniqueItems', 'deprecated', 'readOnly', 'writeOnly'),
};

function isValidKeyword(keyword: string, value: unknown): boolean {
  const kind = schemaKeywords[keyword];
  switch (kind) {
    case undefined:
      return valid[keyword]?.(value) ?? true;
    case 'schemas by property':
      return isRecord(value);
    case 'schemas by name':
      return isRecord(value) && (keyword !== 'patternProperties' || Object.keys(value).every(isPattern));
    case 'list of schemas':
      return isFilled(value);
    case 'schema':
      return isRecord(value) || typeof value === 'boolean';
    default:
      return kind satisfies never;
  }
}

function isType(value: unknown): boolean {
  return typeof value === 'string' && types.includes(value.toLowerCase());
}

function isPattern(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  try {
    return new RegExp(value, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

function all<const Value>(value: Value, ...keywords: string[]): Record<string, Value> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, value]));
}

type FittedSchema =
  /** `changes`: what was rewritten, each in a few words; empty if nothing was. */
  | { kind: 'fits'; schema: Schema; names: ArgumentNames; changes: string[] }
  /** `reason`: the rest of a sentence that begins with the tool. */
  | { kind: 'unfit'; reason: string };

/** Of one schema, with its references resolved. */
const maxNodes = 5_000;
const deepest = 100;

class Unfit extends Error {}

/** `providers`: all of them have to accept the result. Empty: the schema is not changed. */
export function fitSchema(schema: Schema, providers: readonly Provider[]): FittedSchema {
  if (providers.length === 0) return { kind: 'fits', schema, names: {}, changes: [] };
  const rules = rulesOf(providers);
  const changes = new Set<string>();
  const note = (change: string) => void changes.add(change);
  try {
    const renamed = renamedProperties(schema, rules);
    for (const [own, name] of renamed) note(`${own} is offered as ${name}`);
    const fit: Fit = { root: schema, rules, renamed, note, nodes: 0 };
    const merged = mergeRoot(schema, note);
    if (typeof merged === 'string') return { kind: 'unfit', reason: merged };
    const fitted = fitRoot(fit, merged);
    const names = Object.fromEntries([...renamed].map(([own, name]) => [name, own]));
    return { kind: 'fits', schema: fitted, names, changes: [...changes] };
  } catch (error) {
    if (error instanceof Unfit) return { kind: 'unfit', reason: error.message };
    // The schema is too deep for the stack.
    if (error instanceof RangeError)
      return { kind: 'unfit', reason: 'has a schema that is nested too deeply' };
    throw error;
  }
}

interface Fit {
  root: Schema;
  rules: ProviderRules;
  /** From the server's name of a property to the offered name. */
  renamed: ReadonlyMap<string, string>;
  note(change: string): void;
  nodes: number;
}

interface Place {
  path: string;
  /** The references that led here. */
  inside: readonly string[];
  depth: number;
}

function fitRoot(fit: Fit, merged: Schema): Schema {
  const fitted = fitNode(fit, merged, { path: '', inside: [], depth: 0 });
  return { ...fitted, type: 'object', properties: fitted['properties'] ?? {} };
}

function fitNode(fit: Fit, value: unknown, place: Place): Schema {
  if (++fit.nodes > maxNodes) throw new Unfit('has a schema that is too large');
  if (value === true || value === undefined) return {};
  const at = place.path === '' ? 'the root' : place.path;
  if (!isRecord(value)) {
    if (value !== false) fit.note(`${at} is not a schema`);
    return fit.rules.isGoogle || value !== false ? {} : { not: {} };
  }
  if (place.depth > deepest) {
    fit.note(`${at} is nested too deeply`);
    return {};
  }
  const { $ref: reference } = value;
  if (typeof reference === 'string') return fitReference(fit, value, reference, place);
  const fitted = fitKeywords(fit, value, place);
  return fit.rules.isGoogle ? toGoogle(fitted, place.path, fit.note) : fitted;
}

/** Other keywords beside a reference count, too. */
function fitReference(fit: Fit, value: Schema, reference: string, place: Place): Schema {
  const { $ref: _, ...beside } = value;
  const at = place.path === '' ? 'the root' : place.path;
  const target = resolve(fit.root, reference);
  if (target === undefined) {
    fit.note(`${at}: "${reference}" leads nowhere`);
    return fitNode(fit, beside, place);
  }
  const isDefinition = /^#\/(\$defs|definitions)\/[^/]+$/.test(reference);
  if (fit.rules.keepsReferences && isDefinition)
    return { ...fitKeywords(fit, beside, place), $ref: reference };
  fit.note('references are written out');
  if (place.inside.includes(reference)) {
    fit.note(`${at} repeats "${reference}" without end`);
    const { type, description } = isRecord(target) ? target : {};
    return fitNode(fit, { type, description, ...beside }, place);
  }
  const inside = [...place.inside, reference];
  const depth = place.depth + 1;
  return fitNode(fit, isRecord(target) ? { ...target, ...beside } : target, { ...place, inside, depth });
}

function fitKeywords(fit: Fit, value: Schema, place: Place): Schema {
  const { path, inside } = place;
  const fitted: Schema = {};
  const below = (schema: unknown, step: string) =>
    fitNode(fit, schema, { path: path + step, inside, depth: place.depth + 1 });
  for (const [keyword, given] of Object.entries(modernized(value))) {
    if (given === undefined) continue;
    if (!isValidKeyword(keyword, given) || (keyword === '$defs' && path !== '')) {
      fit.note(`${path === '' ? keyword : `${path}.${keyword}`} is left out`);
      continue;
    }
    switch (schemaKeywords[keyword]) {
      case 'schemas by property':
        fitted[keyword] = Object.fromEntries(
          Object.entries(given as Schema).map(([name, schema]) => [
            fit.renamed.get(name) ?? name,
            below(withoutRequired(schema), path === '' ? name : `.${name}`),
          ]),
        );
        break;
      case 'schemas by name':
        // Only definitions of the root can be referenced.
        if (path !== '' || fit.rules.keepsReferences)
          fitted[keyword] = Object.fromEntries(
            Object.entries(given as Schema).map(([name, schema]) => [
              name,
              below(schema, `${keyword}.${name}`),
            ]),
          );
        break;
      case 'list of schemas':
        fitted[keyword] = (given as unknown[]).map((schema) => below(schema, ''));
        break;
      case 'schema':
        fitted[keyword] =
          typeof given === 'boolean' && keyword !== 'items'
            ? given
            : below(given, keyword === 'items' ? '[]' : '');
        break;
      default:
        fitted[keyword] = keyword === 'type' ? lowerCase(given) : given;
    }
  }
  const required = requiredOf(fit, value, place);
  if (required.length > 0) fitted['required'] = required;
  else delete fitted['required'];
  const isArray =
    fitted['type'] === 'array' || (Array.isArray(fitted['type']) && fitted['type'].includes('array'));
  if (isArray && fitted['items'] === undefined) {
    fitted['items'] = {};
    fit.note(`${path} has no items: they may be anything`);
  }
  return fitted;
}

/** Converts keywords of older drafts to 2020-12. */
function modernized(value: Schema): Schema {
  const { items, additionalItems: _, ...rest } = value;
  const modern: Schema = { ...rest };
  if (Array.isArray(items)) modern['items'] = oneOf(items);
  else if (items !== undefined) modern['items'] = items;
  else if (Array.isArray(value['prefixItems'])) modern['items'] = oneOf(value['prefixItems']);
  for (const [exclusive, inclusive] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof value[exclusive] !== 'boolean') continue;
    delete modern[exclusive];
    if (!value[exclusive] || value[inclusive] === undefined) continue;
    modern[exclusive] = value[inclusive];
    delete modern[inclusive];
  }
  return modern;
}

function oneOf(schemas: unknown[]): unknown {
  const distinct = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  return distinct.length > 1 ? { anyOf: distinct } : (distinct[0] ?? {});
}

/** With the offered names. In draft 3, `required: true` was part of the property. */
function requiredOf({ renamed, note }: Fit, value: Schema, { path }: Place): string[] {
  const properties = isRecord(value['properties']) ? value['properties'] : {};
  const list = Array.isArray(value['required']) ? value['required'] : [];
  const named = list.filter((name): name is string => typeof name === 'string');
  const marked = Object.entries(properties).flatMap(([name, schema]) =>
    isRecord(schema) && schema['required'] === true ? [name] : [],
  );
  const required = new Set([...named, ...marked]);
  const isOwn = list.length === required.size && list.length === named.length;
  if (!isOwn && (list.length > 0 || marked.length > 0))
    note(`${path === '' ? '' : `${path}.`}required is rewritten`);
  return [...required].map((name) => renamed.get(name) ?? name);
}

function withoutRequired(schema: unknown): unknown {
  if (!isRecord(schema) || typeof schema['required'] !== 'boolean') return schema;
  const { required: _, ...rest } = schema;
  return rest;
}

function lowerCase(type: unknown): unknown {
  return Array.isArray(type) ? type.map(lowerCase) : (type as string).toLowerCase();
}
