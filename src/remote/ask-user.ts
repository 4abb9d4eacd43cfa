/** Asks the user in the middle of a call, while its connection stays open. Implemented by whoever makes the call. */
import type { Credential } from '../credentials/store.ts';
import type { Outcome } from '../elicitation/elicitation.ts';
import type { QuestionAnswer, RunningCall, ServerQuestion } from './input-required.ts';

export interface AskUser {
  /**
   * Resolves with the user's answer, or with why the call has to end here. Rejects when `signal` is aborted; its reason
   * says, as `ClosedBecause`, if that is the server's doing. `call`: what is left at the server should this process die.
   */
  ask(question: ServerQuestion, signal: AbortSignal, call?: RunningCall): Promise<UserAnswer>;
  /** The server says that a page it sent the user to is done. */
  pageDone(question: ServerQuestion): void;
}

export type UserAnswer =
  | {
      kind: 'answer';
      answer: QuestionAnswer;
      /** What the server hears as `cancel` may have expired. */
      outcome: Outcome;
      /** What to go on with, as the one the call began with may have expired meanwhile. */
      credential?: Credential;
    }
  /** The reason is complete, and made for the model. */
  | { kind: 'refused'; message: string };
