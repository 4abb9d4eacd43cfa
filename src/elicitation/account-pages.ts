/**
 * Where our own pages about questions and accounts are, below the address at which browsers reach the service. For whoever has to send
 * a person there; pure.
 */

/** Where one question about an account is answered. Opaque, and no permission by itself: the page asks who is there. */
export function questionAddress(publicUrl: string, elicitationId: string): string {
  return `${publicUrl}/auth/connect?e=${elicitationId}`;
}

/** Where any other question is answered; leads on to the page above where it is one about an account. */
export function answerAddress(publicUrl: string, elicitationId: string): string {
  return `${publicUrl}/auth/answer?e=${elicitationId}`;
}

/** Where people connect their accounts whenever they like, and see which they have. */
export function connectionsAddress(publicUrl: string): string {
  return `${publicUrl}/connections`;
}

/** The same for whoever knows only where a question about an account is answered. */
export function connectionsBeside(question: string): string {
  return new URL('../connections', question).href;
}
