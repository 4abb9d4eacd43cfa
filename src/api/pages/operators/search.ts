/** An operator's filter in the query of a list. */
import { z } from 'zod';
import { turnStates } from '@interlude-ai/core/contract/operators.ts';
import type { QuestionSearch, SearchPosition, TurnSearch } from '../../../service/operators.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** `isWithin`: not older than `ms`; else older. */
const ages = {
  hour: { ms: hourMs, isWithin: true },
  day: { ms: dayMs, isWithin: true },
  week: { ms: 7 * dayMs, isWithin: true },
  'over-10-minutes': { ms: 10 * minuteMs, isWithin: false },
  'over-hour': { ms: hourMs, isWithin: false },
  'over-day': { ms: dayMs, isWithin: false },
} as const;
export const ageNames = Object.keys(ages) as (keyof typeof ages)[];

const name = z
  .string()
  .trim()
  .regex(/^[^\p{C}]{1,255}$/u)
  .optional()
  .catch(undefined);

const filterSchema = z.object({
  user: name,
  service: name,
  agent: name,
  server: name,
  state: z.enum(turnStates).optional().catch(undefined),
  status: z.enum(['pending', 'accept', 'decline', 'cancel', 'expired']).optional().catch(undefined),
  age: z.enum(ageNames).optional().catch(undefined),
});

export type Filter = z.infer<typeof filterSchema>;

const positionSchema = z.object({
  at: z.coerce.number().int().min(0),
  after: z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/),
});

/** Ignores invalid parameters. */
export function readFilter(query: unknown): { filter: Filter; after: SearchPosition | null } {
  const filter = filterSchema.safeParse(query).data ?? {};
  const { data: position } = positionSchema.safeParse(query);
  return { filter, after: position ? { createdAt: position.at, id: position.after } : null };
}

export function toSearch(
  { user, agent, server, age }: Filter,
  now: number,
): Omit<TurnSearch & QuestionSearch, 'service' | 'state' | 'status'> {
  const { ms, isWithin } = age === undefined ? { ms: 0, isWithin: undefined } : ages[age];
  return {
    user,
    agent,
    server,
    since: isWithin === true ? now - ms : undefined,
    until: isWithin === false ? now - ms : undefined,
  };
}

/** The query of the page after this position. */
export function nextQuery(filter: Filter, { createdAt, id }: SearchPosition): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  return new URLSearchParams([...given, ['at', String(createdAt)], ['after', id]] as [
    string,
    string,
  ][]).toString();
}
