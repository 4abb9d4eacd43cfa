/** Input and result of the activity `callModel`: one model step. Recorded in workflow history: ids and names, no text. */
import type { Repetition } from './repetition.ts';
import type { ToolCall } from './tool-call.ts';
import type { Turn } from './turn.ts';

export interface ModelCallInput extends Repetition {
  turn: Turn;
  /** Counts the turn's model calls from 0. */
  step: number;
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
