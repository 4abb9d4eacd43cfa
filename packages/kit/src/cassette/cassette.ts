/**
 * A recording of the messages between a client and a server. JSON-RPC ids and progress tokens, which clients choose
 * each time, are left out, so that the same conversation gives the same text, byte for byte.
 */
import { parse, stringify } from 'yaml';
import { z } from 'zod';

const version = 1;

const params = z.record(z.string(), z.unknown());
const errorSchema = z.looseObject({ code: z.number(), message: z.string() });
const answered = { result: z.unknown().optional(), error: errorSchema.optional() };

/** Messages during an open request. `id` counts the server's requests. */
const saidSchema = z.union([
  z.strictObject({
    server: z.strictObject({ id: z.number().optional(), method: z.string(), params: params.optional() }),
  }),
  z.strictObject({ client: z.strictObject({ id: z.number(), ...answered }) }),
]);

const requestSchema = z
  .strictObject({ method: z.string(), params: params.optional() })
  .refine(({ method, params: given }) => method !== 'tools/call' || typeof given?.['name'] === 'string', {
    error: 'calls a tool without its name',
  });

const exchangeSchema = z.strictObject({
  request: requestSchema,
  /** The server's questions, for readers of the file; only the messages are used. */
  questions: z.array(z.looseObject({ message: z.string() })).optional(),
  during: z.array(saidSchema).optional(),
  /** Absent if the recording ended before it. */
  response: z.strictObject(answered).optional(),
});

const cassetteSchema = z.strictObject({
  cassette: z.literal(version, `is of another version; this program reads version ${version}`),
  protocol: z.string(),
  exchanges: z.array(exchangeSchema),
});

export type Said = z.infer<typeof saidSchema>;
export type Exchange = z.infer<typeof exchangeSchema>;
export type Cassette = z.infer<typeof cassetteSchema>;

/** Replaces what was removed. In comparisons it matches anything. */
export const redacted = '[redacted]';

export function toText(cassette: Cassette): string {
  return stringify(cassette, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** Throws with the problem. */
export function readCassette(text: string): Cassette {
  const value: unknown = parse(text);
  const { success, error } = cassetteSchema.safeParse(value);
  // The value as read: its order of members keeps the text equal.
  if (success) return value as Cassette;
  const [issue] = error.issues;
  throw new TypeError(`It is no cassette: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trimEnd());
}

/** In either era, by what a server says of itself and its clients. */
export function isModern({ protocol }: Cassette): boolean {
  return protocol >= '2026-07-28';
}
