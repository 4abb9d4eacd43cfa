/**
 * A model step: its input, its result, and the calls that the model asks for. Recorded in workflow history: ids and names, no
 * text, so fields stay readable as they are.
 *
 * A new kind of call is one more member of `ToolCall`; the compiler names every `switch` over `kind` that lacks it.
 */
import type { Repetition } from './repetition.ts';
import type { Turn } from './turn.ts';

/** How long one attempt may take. */
export const modelStepMs = 10 * 60_000;

export interface ModelCallInput extends Repetition {
  turn: Turn;
  /** Counts the turn's model calls from 0. */
  step: number;
  /** As many attempts as the activity of the call before it can have made at this step. Absent: none. */
  attemptsBefore?: number;
}

/** `withdrawn`: the turn never began, because the API could not confirm it to its client (decision 0006). */
export type ModelCallResult = StepResult | { finish: 'withdrawn' };

export interface StepResult {
  finish: StepFinish;
  /** The turn's end is written. Without it, the workflow writes the end. */
  hasEnded?: true;
  /** The calls to run. Invalid ones are not among them: their error is already stored as their result. */
  toolCalls: ToolCall[];
}

/** `tool-calls`: the model is to be called again, even if no call is left to run because all of them were invalid. */
export type StepFinish = 'stop' | 'tool-calls' | 'length' | 'refused';

export type ToolCall = ServerCall | DelegatedCall | QuestionCall | DurableCall;

/** A tool of an MCP server. */
export interface ServerCall {
  kind: 'server';
  toolCallId: string;
  toolName: string;
  server: string;
  /** The tool's own name at its server; null for the `connect_<server>` tool. */
  tool: string | null;
}

/** A task for another agent, which may take `maxSteps` model steps for it. */
export interface DelegatedCall {
  kind: 'delegated';
  toolCallId: string;
  toolName: string;
  agent: string;
  maxSteps: number;
}

/** A form that the model itself puts to the user, by the tool `ask_user`. */
export interface QuestionCall {
  kind: 'question';
  toolCallId: string;
  toolName: string;
  /** How many of them the agent may ask in one turn. */
  perTurn: number;
}

/** A tool in TypeScript, of the folder with these contents: what it was when the model asked for it. */
export interface DurableCall {
  kind: 'durable';
  toolCallId: string;
  toolName: string;
  /** The hash of the folder's bundle. */
  bundle: string;
  /** A person has to approve it before it is begun, unless they have said otherwise. */
  approval?: true;
  /** It asks nothing: one activity runs it, and may take so long. Absent: it is a workflow of its own. */
  executeMs?: number;
}
