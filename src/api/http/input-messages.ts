/** What is wrong with a request, in words that say what to send instead. Values are not repeated: one may be a secret. */
import { z } from 'zod';
import { didYouMean, nearestSpelling } from '../../config/nearest-spelling.ts';

type Issue = z.core.$ZodIssue;

/** For `safeParse`. Schemas with words of their own come first. */
export const inputMessages: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return `${issue.input === undefined ? 'missing; ' : ''}send ${kinds[issue.expected] ?? issue.expected}`;
    case 'invalid_value': {
      const values = issue.values.map(String);
      const hint = typeof issue.input === 'string' ? didYouMean(issue.input, values) : '';
      return `${issue.input === undefined ? 'missing; ' : ''}send ${values.length > 1 ? 'one of ' : ''}${values.join(', ')}${hint}`;
    }
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'send something, or leave it out';
      return `send ${sizeOf(issue.origin, String(issue.minimum), 'at least', 'or more')}`;
    case 'too_big':
      return `send ${sizeOf(issue.origin, String(issue.maximum), 'at most', 'or less')}`;
    case 'invalid_union':
      return 'this has none of the forms that it may have';
    default:
      return undefined;
  }
};

const kinds: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function sizeOf(origin: string, limit: string, before: string, after: string): string {
  switch (origin) {
    case 'string':
      return `${before} ${limit} characters`;
    case 'array':
    case 'set':
      return `${before} ${limit} of them`;
    default:
      return `${limit} ${after}`;
  }
}

/**
 * Of an input that fits no option of a union, zod says only that. Where it has the form of one of them, what is wrong
 * inside that one says more, and where.
 */
export function nearestIssues(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const nearest = issue.errors.find((issues) => issues.length > 0 && issues.every(isInside));
  if (!nearest) return [issue];
  return nearest.flatMap(nearestIssues).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

function isInside({ path }: Issue): boolean {
  return path.length > 0;
}

/**
 * Members that would have no effect, and are almost the name of one that is not there: `agent` for `agentId`. Others that are
 * unknown are let in: released clients send members of their own.
 */
export function misspeltMembers(schema: z.ZodType, input: unknown): { name: string; meant: string }[] {
  const isOpen = schema instanceof z.ZodObject && schema.def.catchall === undefined;
  if (!isOpen || typeof input !== 'object' || input === null) return [];
  const missing = Object.keys(schema.shape).filter((name) => !Object.hasOwn(input, name));
  return Object.keys(input).flatMap((name) => {
    if (Object.hasOwn(schema.shape, name)) return [];
    const meant = nearestSpelling(name, missing);
    return meant === undefined ? [] : [{ name, meant }];
  });
}
