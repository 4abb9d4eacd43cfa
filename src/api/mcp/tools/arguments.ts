/** The arguments of a tool: one zod schema checks them and is what clients are shown. */
import { z } from 'zod';
import { presentMembers } from '../../../elicitation/form/schema-keywords.ts';
import type { JsonSchema } from './tool.ts';

/** The arguments do not fit; the message says where, for the model that wrote them. */
export class InvalidArguments extends Error {
  override name = 'InvalidArguments';
}

export function readArguments<T extends z.ZodObject>(schema: T, given: Record<string, unknown>): z.output<T> {
  const parsed = schema.safeParse(presentMembers(given));
  if (parsed.success) return parsed.data;
  const misfits = parsed.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`,
  );
  throw new InvalidArguments(`The arguments are not valid. ${misfits.join('; ')}.`);
}

export function toJsonSchema(schema: z.ZodObject): JsonSchema {
  const { $schema: _, ...written } = z.toJSONSchema(schema, { io: 'input' });
  return { ...written, type: 'object' };
}
