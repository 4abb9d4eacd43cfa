/**
 * The calls that a model asks for, and the results of attempts at them, as workflows and activities exchange them. Ids,
 * names and reasons only: all of it is recorded in workflow history, so fields stay readable as they are.
 *
 * A new kind of call is one more member of `ToolCall`; the compiler names every `switch` over `kind` that lacks it.
 */
import type { AskedQuestion, AskingTurn } from './ask.ts';
import type { Repetition } from './repetition.ts';
import type { Turn } from './turn.ts';

/** What an activity of a tool in TypeScript may take where its author says nothing else. */
export const usualEffectMs = 60_000;

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
}

/** Input of the activity `callTool`: one attempt at a server's tool. */
export interface ToolCallInput extends Repetition {
  turn: AskingTurn;
  toolCallId: string;
  server: string;
  /** As in `ServerCall`. */
  tool: string | null;
  /** How often the activity was executed for this call before. */
  execution: number;
  /** Of the question in which the user may have approved the call, once it was asked. */
  approval?: GivenApproval;
}

/** What a user was asked to approve. Whether they did is in the question's row. */
export interface GivenApproval {
  elicitationId: string;
  /** Of the arguments, sealed: it can neither be guessed from history nor made up in the database. */
  digest: string;
}

/** The result of an attempt. */
export type AttemptResult =
  /** The tool's result, or an error in its place, is stored for the model. */
  | { kind: 'finished' }
  | CallAsks
  /** The server asks nothing, and wants to be called again later. */
  | { kind: 'later' };

/** People have been asked. The next attempt reads what they answered, and may find that some have not. */
export interface CallAsks {
  kind: 'asks';
  /** Those that are open; at least one. */
  questions: AskedQuestion[];
  approval?: GivenApproval;
}

/** Whether a tool in TypeScript may be begun. */
export type DurableCallPermit =
  | { kind: 'permitted' }
  | CallAsks
  /** The model has its result already. */
  | { kind: 'finished' };

/** Names one round of a call; `round` counts from 1. */
export interface RoundRef {
  turn: Turn;
  toolCallId: string;
  server: string;
  round: number;
}
