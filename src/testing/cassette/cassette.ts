/**
 * A recording of what a client and a server said to each other, message by message. JSON-RPC's ids and progress tokens,
 * which clients choose anew, are left out, so that the same conversation is the same text, byte for byte.
 */
import { parse, stringify } from 'yaml';
import { z } from 'zod';

const version = 1;

const params = z.record(z.string(), z.unknown());
const errorSchema = z.looseObject({ code: z.number(), message: z.string() });
const answered = { result: z.unknown().optional(), error: errorSchema.optional() };

/** What was said while a request was open. `id` counts the requests of the server. */
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
  /** What the server asked in it, for whoever reads the file; the messages are what counts. */
  questions: z.array(z.looseObject({ message: z.string() })).optional(),
  during: z.array(saidSchema).optional(),
  /** Absent: the recording ended before it. */
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

/** Stands for what was taken out; anything fits there when a recording is compared. */
export const redacted = '[redacted]';

export function toText(cassette: Cassette): string {
  return stringify(cassette, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** Throws with what is wrong. */
export function readCassette(text: string): Cassette {
  const value: unknown = parse(text);
  const { success, error } = cassetteSchema.safeParse(value);
  // As it was read: the order of members is what makes the same text again.
  if (success) return value as Cassette;
  const [issue] = error.issues;
  throw new TypeError(`It is no cassette: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trimEnd());
}

/** In either era, by what a server says of itself and its clients. */
export function isModern({ protocol }: Cassette): boolean {
  return protocol >= '2026-07-28';
}
