/** The system's code of an error (`ECONNREFUSED`), which may be the cause of another; empty without one. */
export function errorCodeOf(failure: unknown): string {
  for (let error = failure; error instanceof Error; error = error.cause) {
    if ('code' in error && typeof error.code === 'string') return error.code;
  }
  return '';
}
