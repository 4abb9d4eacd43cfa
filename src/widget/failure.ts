export interface Failure {
  /** For whoever reads it. */
  words: string;
  /** What failed, once more; absent where the way is in sight. */
  again?: (() => void) | undefined;
}

export function failureOf(error: unknown, again?: () => void): Failure {
  return { words: wordsOf(error), again };
}

/** What the service said, else what the browser said. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
