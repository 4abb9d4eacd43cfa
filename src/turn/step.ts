/**
 * Model steps, the tool calls that they request, and attempts at these calls, as workflows and activities exchange them.
 * Ids, names and reasons only, no text: all of it is in recorded histories, so fields must stay readable.
 *
 * A new kind of call is one more member of `ToolCall`; the compiler names every `switch` over `kind` that lacks it.
 */
import type { AskedQuestion, AskingTurn } from './ask.ts';
import type { Turn } from './turn.ts';

/** How long one attempt at a model step may take. */
export const modelStepMs = 10 * 60_000;

export interface ModelCallInput extends Repetition {
  turn: Turn;
  /** Counts the turn's model calls from 0. */
  step: number;
  /** The most attempts that the activity of the call before can have made at this step. Absent: none. */
  attemptsBefore?: number;
}

/** `withdrawn`: the turn never began, because the API could not confirm it to its client (decision 0006). */
export type ModelCallResult = StepResult | { finish: 'withdrawn' };

export interface StepResult {
  finish: StepFinish;
  /** The turn's end is already written. */
  hasEnded?: true;
  /** The calls to run, without invalid ones, whose error is already stored as their result. */
  toolCalls: ToolCall[];
}

/** `tool-calls`: the model must be called again, even if all calls were invalid. */
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

/** A form that the model itself shows to the user, with the tool `ask_user`, or a call of a tool of the front end. */
export interface QuestionCall {
  kind: 'question';
  toolCallId: string;
  toolName: string;
  /** How many forms the agent may show in one turn. */
  perTurn: number;
  /** Its result is the answer. It does not count as a form. */
  isFrontend?: true;
}

/** A tool in TypeScript, with the code that it had when the model requested the call. */
export interface DurableCall {
  kind: 'durable';
  toolCallId: string;
  toolName: string;
  /** The hash of the folder's bundle. */
  bundle: string;
  /** A person must approve the call first, unless they chose to be asked no more. */
  approval?: true;
  /** The time limit of a tool that asks nothing and is run by one activity. Absent: the tool is a workflow of its own. */
  executeMs?: number;
}

/** Default time limit of an activity of a tool in TypeScript. */
export const usualEffectMs = 60_000;

/** Input of the activity `callTool`: one attempt at a server's tool. */
export interface ToolCallInput extends Repetition {
  turn: AskingTurn;
  toolCallId: string;
  server: string;
  /** As in `ServerCall`. */
  tool: string | null;
  /** How often the activity was executed before for this call. */
  execution: number;
  /** The question in which the user may have approved the call, once it was asked. */
  approval?: GivenApproval;
  /** The model step that the activity makes once the call is finished. */
  nextStep?: number;
}

/** Input of the activity `executeTool`: one attempt at a tool in TypeScript that asks nothing. */
export interface ExecuteToolInput extends Repetition {
  turn: AskingTurn;
  toolCallId: string;
  /** How often the activity was executed before for this call. */
  execution: number;
  /** A person must approve the call, unless they chose to be asked no more. */
  needsApproval?: true;
  /** As in `ToolCallInput`. */
  approval?: GivenApproval;
}

/** What a user was asked to approve. The question's row says whether they did. */
export interface GivenApproval {
  elicitationId: string;
  /** Sealed digest of the arguments: it can neither be guessed from history nor forged in the database. */
  digest: string;
  /** Digest of the server's description of the tool when the user was asked; absent if there was none. */
  definition?: string;
}

export type AttemptResult =
  | FinishedCall
  | CallAsks
  /** The server wants to be called again later without asking, or this worker shuts down and another one goes on. */
  | { kind: 'later' };

/** The tool's result, or an error in its place, is stored for the model. */
export interface FinishedCall {
  kind: 'finished';
  /** The result of `nextStep`. Absent if the activity did not make it or failed: then the workflow makes the step. */
  next?: StepResult;
}

/** People were asked. The next attempt reads their answers, and may find that some are missing. */
export interface CallAsks {
  kind: 'asks';
  /** The open questions; at least one. */
  questions: AskedQuestion[];
  approval?: GivenApproval;
}

/** Whether a tool in TypeScript may start. */
export type DurableCallPermit =
  | { kind: 'permitted' }
  | CallAsks
  /** The model has its result already. */
  | { kind: 'finished' };

/** One round of a call; `round` counts from 1. */
export interface RoundRef {
  turn: Turn;
  toolCallId: string;
  server: string;
  round: number;
}

/**
 * Part of the input of an activity that its workflow runs again because it used up its attempts while the database was down.
 * For Temporal that is a new activity, whose attempts count from 1; for the rows that the first one wrote it is the same.
 */
export interface Repetition {
  /** Absent in the first activity. */
  repeats?: {
    /** The most attempts that all activities before this one can have made. */
    attempts: number;
  };
}

/**
 * Types of activity failures that were not thrown on purpose. The worker's log has their details. The strings are in
 * recorded histories and must not change. This one: the database cannot be reached or is overloaded.
 */
export const databaseTrouble = 'DatabaseTrouble';
/** Any other accidental failure. */
export const activityFailed = 'ActivityFailed';
/** The turn has ended, or is about to: the activity stopped, or its write was refused. */
export const turnIsOver: readonly string[] = ['TurnEnding', 'WriteRefused'];
