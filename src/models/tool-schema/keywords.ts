/** The keywords of JSON Schema 2020-12, and their valid values. Unknown keywords have no meaning. Pure. */
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';

type SchemaKeyword = 'schema' | 'list of schemas' | 'schemas by property' | 'schemas by name';

/** Keywords whose values are schemas. */
export const schemaKeywords: Record<string, SchemaKeyword | undefined> = {
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

export function isValidKeyword(keyword: string, value: unknown): boolean {
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
