import { z } from 'zod';

/** `500ms`, `90s`, `10m` or `1h`, as milliseconds. */
export const duration = z
  .string({ error: ({ input }) => withUnit(input) })
  .regex(/^\d+(ms|s|m|h)$/, { error: ({ input }) => withUnit(input) })
  .transform(parseDuration);

function parseDuration(text: string): number {
  const [, amount = '', unit = ''] = /^(\d+)(ms|s|m|h)$/.exec(text) ?? [];
  const factor = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[unit] ?? 0;
  return Number(amount) * factor;
}

/** A bare number has no unit; most people mean seconds. */
function withUnit(input: unknown): string {
  return /^\d+$/.test(String(input))
    ? `a duration has a unit; write "${String(input)}s" for seconds, or ms, m, h`
    : 'write a duration such as 90s, 10m or 1h';
}
