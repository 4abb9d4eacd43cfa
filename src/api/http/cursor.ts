/** Cursors of lists. Opaque to clients, so that they can change. */
import { z } from 'zod';

export function toCursor(position: object): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/** A query parameter that is parsed into what `toCursor` was given. */
export function cursorTo<T extends z.ZodType<object>>(position: T, example: z.output<T>) {
  const text = z.string().meta({ description: '`next` of the page before', examples: [toCursor(example)] });
  return text.transform((given, context): z.output<T> => {
    const parsed = position.safeParse(fromJson(Buffer.from(given, 'base64url').toString()));
    if (parsed.success) return parsed.data;
    context.addIssue({ code: 'custom', message: 'send `next` of the page before, as it was' });
    return z.NEVER;
  });
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
