import { InterludeError } from '../client/interlude-error.ts';

/** For whoever reads it: what the service said, else what the browser said. */
export function wordsOf(error: unknown): string {
  if (error instanceof InterludeError) return error.detail;
  return error instanceof Error ? error.message : String(error);
}
