/** What operators watch of the whole installation, at one moment. Counts only. */
export interface Figures {
  /** By the server whose account a question asks for; null: questions of every other kind. Null is always there. */
  questions: { server: string | null; open: number; overdue: number }[];
  /**
   * Turns that have not ended. `starting`: no worker has begun them; `waiting`: they have an open question; `running`: the
   * others.
   */
  turns: { starting: number; waiting: number; running: number };
  /** `overdueMs`: for how long the mark that is due longest has been due; 0 where none is. */
  outbox: { pending: number; overdueMs: number };
}
