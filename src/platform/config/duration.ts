import { z } from 'zod';
import { inMilliseconds } from '@interlude-ai/core/read-duration.ts';

const hourMs = 3_600_000;

/** `500ms`, `90s`, `10m` or `1h`, as milliseconds. */
export const duration = z
  .string({ error: ({ input }) => withUnit(input) })
  .regex(/^\d+(ms|s|m|h)$/, { error: ({ input }) => withUnit(input) })
  .transform(inMilliseconds);

/** Of data that is deleted. Reports of the end of a turn need its data for minutes. */
export const age = duration.refine((ms) => ms >= hourMs, { error: 'write at least 1h' });

/** A bare number has no unit; most people mean seconds. */
function withUnit(input: unknown): string {
  return /^\d+$/.test(String(input))
    ? `a duration has a unit; write "${String(input)}s" for seconds, or ms, m, h`
    : 'write a duration such as 90s, 10m or 1h';
}
