/**
 * A zod schema as the flat JSON Schema of a form. For the service, which runs tools; authors have the types of `elicit`.
 * What it makes, `readRequestedSchema` takes: one reader says what a form can show, whoever wrote its schema.
 */
import { z } from 'zod';
import { readRequestedSchema } from '../elicitation/form/requested-schema.ts';

export type FlatSchemaResult =
  | { kind: 'flat'; requestedSchema: Record<string, unknown> }
  | { kind: 'problem'; problem: string };

/** `problem` is one sentence that names the field. */
export function toRequestedSchema(schema: unknown): FlatSchemaResult {
  if (!isZodSchema(schema))
    return { kind: 'problem', problem: 'The schema must be a zod 4 object: z.object({ … }).' };
  const { type, properties, required } = jsonSchemaOf(schema, 'any');
  const requestedSchema = {
    type,
    properties: Object.fromEntries(
      Object.entries(properties ?? {}).map(([name, field]) => [name, withoutOwnChecks(field)]),
    ),
    ...(required !== undefined && { required }),
  };
  const read = readRequestedSchema(requestedSchema);
  return read.kind === 'form' ? { kind: 'flat', requestedSchema } : { kind: 'problem', problem: read.reason };
}

/** Whatever zod 4 it comes from: the author's may be another copy. */
export function isZodSchema(schema: unknown): schema is z.core.$ZodType {
  return typeof schema === 'object' && schema !== null && '_zod' in schema;
}

type JsonSchema = Record<string, unknown> & { properties?: Record<string, unknown> };

/** What a schema takes in. Throws in zod's words where JSON Schema has none for it, unless anything goes there. */
export function jsonSchemaOf(schema: z.core.$ZodType, unrepresentable: 'any' | 'throw'): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable });
  return json as JsonSchema;
}

/**
 * Zod writes its own pattern beside a format, and the limits of exact integers: nothing that the author said, nor that a
 * person should be told. The schema itself holds the answer to them.
 */
function withoutOwnChecks(field: unknown): unknown {
  if (typeof field !== 'object' || field === null) return field;
  const { pattern, format, minimum, maximum, ...rest } = field as Record<string, unknown>;
  return {
    ...rest,
    ...(format !== undefined && { format }),
    ...(format === undefined && pattern !== undefined && { pattern }),
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
  };
}
