import type { StepFinish } from '../../turn/step.ts';
import type { TurnRef, Usage } from '../../turn/turn.ts';
import type { NewEvent } from './turn-log.ts';
import type { StoredMessage } from './conversations.ts';
import type { ToolCallRow } from './tool-calls.ts';

/** One attempt at a model call. Steps count from 0 in each agent's work, attempts from 1. */
export interface StepAttempt {
  step: number;
  attempt: number;
}

export type StepStart =
  /** `isRepeat`: an older attempt has left words in the log. */
  | { kind: 'begun'; isRepeat: boolean }
  /** An older attempt has finished it: what it kept counts. */
  | { kind: 'kept'; finish: StepFinish };

export interface Steps {
  /** From now on the step is this attempt's: whatever an older one still writes is refused. */
  begin(turn: TurnRef, of: StepAttempt): Promise<StepStart>;
  /** As `TurnLog.append`, for what is said in a step. */
  append(turn: TurnRef, of: StepAttempt, events: NewEvent[]): Promise<void>;
  /**
   * Everything that a step leaves behind, in one transaction. Null; or how the step ended when it is kept already, and
   * nothing is written.
   */
  keep(
    turn: TurnRef,
    of: StepAttempt,
    kept: {
      finish: StepFinish;
      usage: Usage;
      messages: Omit<StoredMessage, 'turnId'>[];
      events: NewEvent[];
      calls: Omit<ToolCallRow, 'state'>[];
    },
  ): Promise<StepFinish | null>;
}
