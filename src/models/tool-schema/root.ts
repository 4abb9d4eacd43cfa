/**
 * Makes the root of a schema a plain object: its alternatives become optional properties, and the description says which
 * belong together. Pure.
 */
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import type { Schema } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';

/** Returns a string if it cannot be one: the reason. */
export function mergeRoot(schema: Schema, note: (change: string) => void): Schema | string {
  const flat = flatten(schema, schema, []);
  if (typeof flat === 'string') return flat;
  const { merged, alternatives } = flat;
  const { type } = schema;
  if (type === undefined && !isMerged(schema)) note('type: object is added at the root');
  if (isMerged(schema))
    note(`${combiners.filter((one) => schema[one] !== undefined).join(', ')} at the root is merged`);
  const { description } = merged;
  const words = [...(typeof description === 'string' ? [description] : []), ...alternatives].join(' ');
  return { ...merged, type: 'object', ...(words !== '' && { description: words }) };
}

const combiners = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'enum', 'const', 'if', 'then', 'else'];

function isMerged(schema: Schema): boolean {
  return combiners.some((keyword) => schema[keyword] !== undefined);
}

interface Flat {
  merged: Schema;
  /** Sentences about which arguments belong together. */
  alternatives: string[];
}

function flatten(schema: Schema, root: Schema, inside: readonly string[]): Flat | string {
  if (!mayBeObject(schema['type']))
    return `takes arguments of type ${JSON.stringify(schema['type'])}, and arguments are an object`;
  if (!isMerged(schema)) return { merged: schema, alternatives: [] };
  const {
    $ref: reference,
    allOf,
    anyOf,
    oneOf,
    not: _,
    enum: __,
    const: ___,
    if: ____,
    then,
    else: otherwise,
    ...own
  } = schema;
  let flat: Flat = { merged: own, alternatives: [] };
  const branchesOf = (given: unknown) => branches(given, root, inside);
  if (typeof reference === 'string' && !inside.includes(reference)) {
    const target = resolve(root, reference);
    const [read] = isRecord(target) ? [flatten(target, root, [...inside, reference])] : [];
    if (typeof read === 'string') return read;
    if (read) flat = both(read, flat);
  }
  for (const branch of branchesOf(allOf)) flat = both(flat, branch);
  for (const given of [anyOf, oneOf]) {
    if (!Array.isArray(given) || given.length === 0) continue;
    const read = branchesOf(given);
    if (read.length === 0 && !isRecord(flat.merged['properties']))
      return 'takes arguments that are no object';
    flat = either(flat, read);
  }
  // Conditionally required arguments are optional.
  for (const branch of branchesOf([then, otherwise]))
    flat = both(flat, { ...branch, merged: { properties: propertiesOf(branch) } });
  return flat;
}

function mayBeObject(type: unknown): boolean {
  if (type === undefined || type === null) return true;
  const types = [type].flat();
  return types.some((one) => typeof one === 'string' && one.toLowerCase() === 'object');
}

/** The alternatives that can be objects. */
function branches(given: unknown, root: Schema, inside: readonly string[]): Flat[] {
  if (!Array.isArray(given)) return [];
  return given.flatMap((branch: unknown) => {
    const read = isRecord(branch) ? flatten(branch, root, inside) : 'no schema';
    return typeof read === 'string' ? [] : [read];
  });
}

function both(one: Flat, other: Flat): Flat {
  const properties = merged(propertiesOf(one), propertiesOf(other));
  const required = [...new Set([...requiredOf(one), ...requiredOf(other)])];
  return {
    merged: withParts({ ...other.merged, ...one.merged }, properties, required),
    alternatives: [...one.alternatives, ...other.alternatives],
  };
}

/** Arguments that all alternatives require stay required. The sets of the others are described to the model. */
function either(base: Flat, of: Flat[]): Flat {
  if (of.length === 0) return base;
  const properties = of.map(propertiesOf).reduce(merged, propertiesOf(base));
  const sets = of.map((one) => requiredOf(one).filter((name) => !requiredOf(base).includes(name)));
  const common = (sets[0] ?? []).filter((name) => sets.every((set) => set.includes(name)));
  const own = sets.map((set) => set.filter((name) => !common.includes(name)));
  const distinct = [...new Set(own.filter((set) => set.length > 0).map((set) => set.join(' and ')))];
  return {
    merged: withParts({ ...base.merged }, properties, [...requiredOf(base), ...common]),
    alternatives: [
      ...base.alternatives,
      ...of.flatMap(({ alternatives }) => alternatives),
      ...(distinct.length > 1 ? [`Give either ${distinct.join(', or ')}.`] : []),
    ],
  };
}

function withParts(schema: Schema, properties: Schema, required: string[]): Schema {
  const { properties: _, required: __, ...rest } = schema;
  return {
    ...rest,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

/** A property with two schemas may match either. */
function merged(one: Schema, other: Schema): Schema {
  const all = { ...one };
  for (const [name, schema] of Object.entries(other)) {
    const known = all[name];
    if (known === undefined) all[name] = schema;
    else if (JSON.stringify(known) !== JSON.stringify(schema))
      all[name] = { anyOf: [...choicesOf(known), schema] };
  }
  return all;
}

function choicesOf(schema: unknown): unknown[] {
  const isChoice = isRecord(schema) && Array.isArray(schema['anyOf']) && Object.keys(schema).length === 1;
  return isChoice ? (schema['anyOf'] as unknown[]) : [schema];
}

function propertiesOf({ merged: { properties } }: Flat): Schema {
  return isRecord(properties) ? properties : {};
}

function requiredOf({ merged: { required } }: Flat): string[] {
  return Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [];
}

/**
 * Resolves a JSON pointer (RFC 6901) within the schema. Undefined if it leads nowhere or to another document: nothing is
 * fetched.
 */
export function resolve(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  const pointer = decoded(reference.slice(1));
  if (pointer === '') return root;
  if (!pointer?.startsWith('/')) return undefined;
  let value = root;
  for (const step of pointer.slice(1).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
