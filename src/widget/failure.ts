import { InterludeError } from '../client/interlude-error.ts';

export interface Failure {
  /** For whoever reads it: what the service said, else what the browser said. */
  words: string;
  /** What failed, once more; absent where the way is in sight. */
  again?: (() => void) | undefined;
}

export function failureOf(error: unknown, again?: () => void): Failure {
  if (error instanceof InterludeError) return { words: error.detail, again };
  return { words: error instanceof Error ? error.message : String(error), again };
}
