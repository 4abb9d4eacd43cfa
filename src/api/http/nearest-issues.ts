import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

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
