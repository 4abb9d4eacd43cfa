import { z } from 'zod';
import { inMilliseconds } from '@interlude-ai/core/read-duration.ts';

/** `500ms`, `90s`, `10m` or `1h`, as milliseconds. */
export const duration = z
  .string({ error: ({ input }) => withUnit(input) })
  .regex(/^\d+(ms|s|m|h)$/, { error: ({ input }) => withUnit(input) })
  .transform(inMilliseconds);

/** A bare number has no unit; most people mean seconds. */
function withUnit(input: unknown): string {
  return /^\d+$/.test(String(input))
    ? `a duration has a unit; write "${String(input)}s" for seconds, or ms, m, h`
    : 'write a duration such as 90s, 10m or 1h';
}
