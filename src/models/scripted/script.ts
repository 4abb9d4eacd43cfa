/**
 * What a scripted model is made of. A script is a list of rules; the first that has something to say to a
 * conversation decides the model's next move. Rules are asked anew at every step and remember nothing, like the
 * model they stand in for.
 */

/** What came back from a tool since the user spoke. */
export interface ToolOutcome {
  tool: string;
  input: unknown;
  ok: boolean;
  /** The result as text, or the error's words. */
  text: string;
  /** The result as data, when it is JSON. */
  data: unknown;
}

export interface Conversation {
  /** The user's last message. */
  userText: string;
  /** Names of the tools on offer, as the model sees them. */
  tools: readonly string[];
  outcomes: readonly ToolOutcome[];
}

export interface Call {
  tool: string;
  input?: Record<string, unknown>;
}

/** Words, calls (run in parallel), or words and then calls. */
export interface Move {
  say?: string;
  calls?: Call[];
}

/** `null` leaves the conversation to the next rule. */
export type Rule = (conversation: Conversation) => Move | null;

export interface Script {
  rules: readonly Rule[];
  /** Pause before each word, in milliseconds, so that people see it stream. */
  wordDelayMs: number;
}

export function defineScript(
  rules: readonly Rule[],
  { wordDelayMs = 12 }: { wordDelayMs?: number } = {},
): Script {
  return { rules, wordDelayMs };
}
