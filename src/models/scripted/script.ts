/**
 * The parts of a scripted model. A script is a list of rules. The first rule that returns a move for a conversation
 * decides. Rules are stateless: each is asked again at every step.
 */

/** The result of a tool since the user's last message. */
export interface ToolOutcome {
  tool: string;
  input: unknown;
  ok: boolean;
  text: string;
  /** The parsed result, when it is JSON. */
  data: unknown;
}

export interface Conversation {
  userText: string;
  /** The images in the user's last message. */
  images: readonly { mediaType: string; bytes: number }[];
  /** Names of the offered tools, as the model sees them. */
  tools: readonly string[];
  outcomes: readonly ToolOutcome[];
}

export interface Call {
  tool: string;
  input?: Record<string, unknown>;
}

/** Text, calls (made in parallel), or text and then calls. */
export interface Move {
  say?: string;
  calls?: Call[];
}

/** `null` passes to the next rule. */
export type Rule = (conversation: Conversation) => Move | null;

export interface Script {
  rules: readonly Rule[];
  /** Pause before each word in milliseconds, so that streaming is visible. */
  wordDelayMs: number;
}

export function defineScript(
  rules: readonly Rule[],
  { wordDelayMs = 12 }: { wordDelayMs?: number } = {},
): Script {
  return { rules, wordDelayMs };
}
