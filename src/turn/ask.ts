/**
 * Questions to people, as workflows and activities exchange them. Ids, names and durations only, no text: all of it is in
 * recorded histories, so fields must stay readable.
 */
import type { Mode, Outcome } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Turn } from './turn.ts';

/** A question that is open. The workflow waits for its row to be settled. */
export interface AskedQuestion {
  elicitationId: string;
  /** Time until its deadline, by the database's clock when the activity read it; at least 0. */
  remainingMs: number;
  mode: Mode;
  /** The name of the server, agent or tool that asks, or of the server whose account is missing. For operators. */
  askedBy: string;
  /** The asker's name for people, if it differs. */
  askerTitle?: string;
  /** It is settled when the account is connected. */
  isConnection?: true;
}

export interface AskingTurn extends Turn {
  limits: { elicitationTimeoutMs: number };
}

/** A question of a tool in TypeScript, as its author wrote it. */
export type ToolRequest = { toolTitle: string; message: string } & (
  | { mode: 'url'; url: string }
  | { mode: 'form'; requestedSchema: Record<string, unknown> }
);

/** How a question ended, or why it was not asked. */
export type AskResult = Outcome | NotAsked;

/** `unsupported`: the caller's client cannot show it. */
export type NotAsked = 'unsupported' | TooManyOpen;

/** The limit of open questions is reached: of the user, the turn, or the tenant. */
export type TooManyOpen = 'too-many-open' | 'too-many-in-turn' | 'too-many-in-tenant';

export function isTooManyOpen(value: unknown): value is TooManyOpen {
  return value === 'too-many-open' || value === 'too-many-in-turn' || value === 'too-many-in-tenant';
}
