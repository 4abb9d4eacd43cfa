import type { LeftOut } from '../../turn/left-out.ts';
import type { StepFinish } from '../../turn/step.ts';
import type { TurnRef, Usage } from '../../turn/turn.ts';
import type { NewEvent } from './turn-log.ts';
import type { StoredMessage } from './conversations.ts';
import type { ToolCallRow } from './tool-calls.ts';
import type { Ended, Ending } from './turns.ts';

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

export type KeptStep =
  /** `ended`: the turn has ended with it. */
  | { kind: 'kept'; ended: Ended | null }
  /** It was kept before, with this end, and nothing is written. */
  | { kind: 'known'; finish: StepFinish };

export interface Steps {
  /** From now on the step is this attempt's: whatever an older one still writes is refused. */
  begin(turn: TurnRef, of: StepAttempt): Promise<StepStart>;
  /** As `TurnLog.append`, for what is said in a step. */
  append(turn: TurnRef, of: StepAttempt, events: NewEvent[]): Promise<void>;
  /** Everything that a step leaves behind, in one transaction. */
  keep(
    turn: TurnRef,
    of: StepAttempt,
    kept: {
      finish: StepFinish;
      usage: Usage;
      messages: Omit<StoredMessage, 'turnId'>[];
      events: NewEvent[];
      /** `code`: that the call is to run with, and that has to stay until the call is finished. */
      calls: (Omit<ToolCallRow, 'state' | 'createdAt'> & { code?: string })[];
      /** Messages of the transcript that the model was given less of, by id: from now on it is given no more. */
      leftOut?: ReadonlyMap<string, LeftOut>;
      /** The turn ends with the step, as completed, unless it is stopping already. Its workflow has to be the caller's. */
      ending?: Pick<Ending, 'resultOf'>;
    },
  ): Promise<KeptStep>;
}
