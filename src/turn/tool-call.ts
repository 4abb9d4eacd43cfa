/**
 * Attempts at the calls that a model asks for, and their results, as workflows and activities exchange them. Ids, names and
 * reasons only: all of it is recorded in workflow history, so fields stay readable as they are.
 */
import type { AskedQuestion, AskingTurn } from './ask.ts';
import type { Repetition } from './repetition.ts';
import type { StepResult } from './step.ts';
import type { Turn } from './turn.ts';

/** What an activity of a tool in TypeScript may take where its author says nothing else. */
export const usualEffectMs = 60_000;

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
  /** The model step that the activity goes on with, once the call is finished. */
  nextStep?: number;
}

/** Input of the activity `executeTool`: one attempt at a tool in TypeScript that asks nothing. */
export interface ExecuteToolInput extends Repetition {
  turn: AskingTurn;
  toolCallId: string;
  /** How often the activity was executed for this call before. */
  execution: number;
  /** A person has to approve the call, unless they have said otherwise. */
  needsApproval?: true;
  /** As in `ToolCallInput`. */
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
  | FinishedCall
  | CallAsks
  /** The server asks nothing, and wants to be called again later; or its worker leaves, and another one goes on. */
  | { kind: 'later' };

/** The tool's result, or an error in its place, is stored for the model. */
export interface FinishedCall {
  kind: 'finished';
  /** Of the step in the input. Absent: the activity has not made it, or has failed at it, and the workflow makes it. */
  next?: StepResult;
}

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
