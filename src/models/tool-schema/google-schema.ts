/**
 * Converts a schema to the subset of OpenAPI 3.0 that Google's models accept: https://ai.google.dev/api/caching#Schema.
 * Pure.
 */
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import type { Schema } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';

const keywords = new Set(
  (
    'type format title description nullable enum items properties required anyOf minItems maxItems minProperties ' +
    'maxProperties minLength maxLength pattern minimum maximum default'
  ).split(' '),
);

/** Dropping these hardly changes the meaning. */
const droppable =
  /^(\$.*|x-.*|additionalProperties|examples|readOnly|writeOnly|deprecated|properties|const)$/;

const formats: Record<string, string[]> = {
  string: ['enum', 'date-time'],
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

/** The parts of the schema have been converted already. */
export function toGoogle(given: Schema, path: string, note: (change: string) => void): Schema {
  const at = path === '' ? '' : `${path}.`;
  let schema = withPartsOf(given);
  if (schema['const'] !== undefined) schema = { ...schema, enum: [schema['const']] };
  schema = withOneType(withStringEnum(schema));
  const kept: Schema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const isFormat = keyword === 'format' && !formats[String(schema['type'])]?.includes(String(value));
    const isEmpty = keyword === 'properties' && path !== '' && Object.keys(value as object).length === 0;
    if (!keywords.has(keyword) || isFormat || isEmpty) {
      if (given[keyword] === value && !droppable.test(keyword)) note(`${at}${keyword} is left out`);
    } else kept[keyword] = value;
  }
  if (isRecord(kept['properties']) && Array.isArray(kept['required'])) {
    const { properties } = kept;
    kept['required'] = kept['required'].filter((name) => Object.hasOwn(properties, String(name)));
  } else delete kept['required'];
  if (Array.isArray(kept['required']) && kept['required'].length === 0) delete kept['required'];
  if (kept['type'] === 'array' && isRecord(kept['items']) && isUntyped(kept['items'])) {
    note(`${path}[] is offered as text`);
    kept['items'] = { ...kept['items'], type: 'string' };
  }
  return kept['anyOf'] === undefined ? kept : withoutSiblings(kept);
}

function isUntyped({ type, anyOf }: Schema): boolean {
  return type === undefined && anyOf === undefined;
}

/** Merges `allOf`, and turns `oneOf` into `anyOf`. */
function withPartsOf({ allOf, oneOf, ...schema }: Schema): Schema {
  const parts = Array.isArray(allOf) ? allOf.filter(isRecord) : [];
  const properties = Object.assign({}, ...[...parts, schema].map((one) => one['properties'] ?? {})) as Schema;
  const required = [...parts, schema].flatMap((one) =>
    Array.isArray(one['required']) ? one['required'] : [],
  );
  const whole: Schema = Object.assign({}, ...parts, schema) as Schema;
  return {
    ...whole,
    ...(Array.isArray(oneOf) && { anyOf: whole['anyOf'] ?? oneOf }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
}

/** `enum` may only contain strings; other values are listed in the description. */
function withStringEnum(schema: Schema): Schema {
  const { enum: values, description, ...rest } = schema;
  if (!Array.isArray(values)) return schema;
  const texts = values.filter((value) => typeof value === 'string' && value !== '');
  const hasNull = values.includes(null);
  if (texts.length + (hasNull ? 1 : 0) === values.length && texts.length > 0)
    return { type: 'string', ...schema, enum: texts, ...(hasNull && { nullable: true }) };
  const words = `One of: ${values.map((value) => JSON.stringify(value)).join(', ')}.`;
  return { ...rest, description: typeof description === 'string' ? `${description} ${words}` : words };
}

/** Turns a list of types into `anyOf`, and `null` into `nullable`. */
function withOneType(schema: Schema): Schema {
  const { type, ...rest } = schema;
  if (type === 'null') return { ...rest, nullable: true };
  if (!Array.isArray(type)) return schema;
  const types = type.filter((one) => one !== 'null');
  const nullable = types.length < type.length && { nullable: true };
  if (types.length <= 1)
    return { ...rest, ...(types.length === 1 && { type: types[0] as unknown }), ...nullable };
  const { items, properties, required, enum: values, format: _, ...others } = rest;
  const choices = types.map((one) => ({
    type: one as unknown,
    ...(one === 'array' && { items: items ?? { type: 'string' } }),
    ...(one === 'object' && { properties, required }),
    ...(one === 'string' && values !== undefined && { enum: values }),
  }));
  return {
    ...others,
    anyOf: choices.map((choice) => JSON.parse(JSON.stringify(choice)) as unknown),
    ...nullable,
  };
}

/** No keyword is allowed beside `anyOf`, so the others move into the alternatives. */
function withoutSiblings({ anyOf, description, nullable }: Schema): Schema {
  const given = Array.isArray(anyOf) ? anyOf.filter(isRecord) : [];
  const isNothing = (choice: Schema) => choice['nullable'] === true && isUntyped(choice);
  const choices = given.filter((choice) => !isNothing(choice));
  const marks = {
    ...((nullable === true || choices.length < given.length) && { nullable: true }),
  };
  const described = choices.map((choice) => ({
    ...(typeof description === 'string' && { description }),
    ...choice,
    ...marks,
  }));
  return described.length === 1 ? (described[0] ?? {}) : { anyOf: described };
}
