/**
 * The addresses of our own pages about questions and accounts. `publicUrl`: where browsers reach the service. Pure.
 */

/** The page of one question about an account. The address grants nothing: the page authenticates its user. */
export function questionAddress(publicUrl: string, elicitationId: string): string {
  return `${publicUrl}/auth/connect?e=${elicitationId}`;
}

/** The page of any other question. Redirects to the page above for a question about an account. */
export function answerAddress(publicUrl: string, elicitationId: string): string {
  return `${publicUrl}/auth/answer?e=${elicitationId}`;
}

/** The page on which people see and connect their accounts. */
export function connectionsAddress(publicUrl: string): string {
  return `${publicUrl}/connections`;
}

/** The address of that page, from the address of a question about an account. */
export function connectionsBeside(question: string): string {
  return new URL('../connections', question).href;
}
