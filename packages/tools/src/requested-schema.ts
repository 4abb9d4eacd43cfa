/**
 * Turns a zod schema into the flat JSON Schema of a form. For the service, which runs tools; authors have the types of
 * `elicit`. `readRequestedSchema` decides what a form can show, as for forms of servers and models.
 */
import { z } from 'zod';
import { readRequestedSchema } from '@interlude-ai/core/elicitation/form/requested-schema.ts';

type FlatSchemaResult =
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

/** Works for any copy of zod 4: the author's may be another one. */
export function isZodSchema(schema: unknown): schema is z.core.$ZodType {
  return typeof schema === 'object' && schema !== null && '_zod' in schema;
}

type JsonSchema = Record<string, unknown> & { properties?: Record<string, unknown> };

/** The input of a zod schema. `throw`: throws zod's error for what JSON Schema cannot express. */
export function jsonSchemaOf(schema: z.core.$ZodType, unrepresentable: 'any' | 'throw'): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable });
  return json as JsonSchema;
}

/**
 * Removes what zod adds by itself: its pattern for a format, and the limits of exact integers. A person should not see
 * these; the answer is checked by the zod schema anyway.
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
