/** One model call of a turn, as workflows ask for it and hear of its end. Part of workflow history: no words. */
import type { ToolCall } from './tool-call.ts';
import type { Turn } from './turn.ts';

export interface ModelCallInput {
  turn: Turn;
  /** Counts the turn's model calls from 0. */
  step: number;
}

/** `withdrawn`: the API could not tell its client that the turn runs, so it does not. */
export type ModelCallResult = StepResult | { finish: 'withdrawn' };

export interface StepResult {
  finish: StepFinish;
  /** The calls to run. Those the model got wrong are not among them: it has been told already. */
  toolCalls: ToolCall[];
}

/** `tool-calls`: the model is to be called again, even if no call is left to run because it got all of them wrong. */
export type StepFinish = 'stop' | 'tool-calls' | 'length' | 'refused';
