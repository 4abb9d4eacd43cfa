import type { Delegation, TurnRef } from '../../turn/turn.ts';
import type { NewEvent } from './turn-log.ts';
import type { StoredMessage } from './conversations.ts';

export interface ToolCallRow {
  toolCallId: string;
  toolName: string;
  input: unknown;
  /**
   * `requested` by the model → `started`: a request may have left → `finished`: the model has its result.
   * `paused` is between two rounds: the server has asked, and nothing is under way until people have answered.
   */
  state: 'requested' | 'started' | 'paused' | 'finished';
  /** When the model asked for it. */
  createdAt: number;
}

export interface UnfinishedCall extends ToolCallRow {
  /** The agent that made it; absent for the root agent. */
  delegation?: Delegation;
}

/** What the server asked in the middle of a call, and how the call goes on; sealed by the caller. Numbered from 1. */
export interface ToolCallRound {
  round: number;
  sealed: string;
}

/** How a call ends for the model, and for those who read along. */
export interface CallResult {
  message: Omit<StoredMessage, 'turnId'>;
  event: NewEvent;
}

/** One of the attempts at making a call. What an older one writes is refused once a newer one has written. */
export interface CallAttempt {
  /** Counts the activities that were executed for the call before, from 0: each has attempts of its own, from 1. */
  execution: number;
  attempt: number;
}

/** Keyed by (turn, toolCallId), delegations included. Calls come into being with the step that asks for them. */
export interface ToolCalls {
  get(turn: TurnRef, toolCallId: string): Promise<ToolCallRow | null>;
  /**
   * As `get`, for the attempt that continues it from here. `isHeld`: not taken, because an earlier attempt holds it. A hold
   * that has run out still counts until the database has answered this process for `holdMs` without an outage: its holder
   * could not renew it either.
   */
  take(
    turn: TurnRef,
    toolCallId: string,
    by: CallAttempt,
    holdMs?: number,
  ): Promise<(ToolCallRow & { isHeld?: true }) | null>;
  /** Keeps later attempts from taking the call for this long, by the database's clock. Zero lets go of it. */
  hold(turn: TurnRef, toolCallId: string, ms: number, by: CallAttempt): Promise<void>;
  /**
   * Compare-and-set `requested` or `paused` → `started`. False: another attempt has started it. Rejects with `WriteRefused`
   * when the turn was asked to stop, or has ended.
   */
  start(turn: TurnRef, toolCallId: string, by: CallAttempt): Promise<boolean>;
  /** `started` → what it was before, for a request that certainly had no effect (refused with 401, connection refused). */
  release(turn: TurnRef, toolCallId: string, by: CallAttempt): Promise<void>;
  /**
   * Returns how often the call has failed by now, since it was asked for or since its last round. 0: another attempt has taken it
   * over. Infinity: it is finished.
   */
  countFailure(turn: TurnRef, toolCallId: string, by: CallAttempt): Promise<number>;
  /**
   * Adds a round, in one transaction with `started` → `state`: `paused`, or still `started` while a connection is held.
   * Keeping a round again is a no-op; false: then another process was first, and its round is the one that counts.
   */
  keepRound(
    turn: TurnRef,
    toolCallId: string,
    round: ToolCallRound,
    state: 'paused' | 'started',
    by: CallAttempt,
  ): Promise<boolean>;
  /**
   * How far a call has come, with the event for the log, in one transaction. False, and nothing is written, when it
   * had come as far already, or is over, or is another attempt's.
   */
  noteProgress(
    turn: TurnRef,
    toolCallId: string,
    progress: number,
    event: NewEvent,
    by: CallAttempt,
  ): Promise<boolean>;
  /** In their order. Gone once the call is finished; those of a turn that ended first, once they are abandoned. */
  rounds(turn: TurnRef, toolCallId: string): Promise<ToolCallRound[]>;
  /**
   * → `finished`, with the message for the calling model and the event for the log, in one transaction. First finish
   * wins. Without `by` the attempt need not be the newest. The call leaves its questions: those that no other call waits
   * for are settled as withdrawn, in the same transaction.
   *
   * `stoppedWith`: the call is ended before it has come to a result, as are these other calls, which have not started. Accepted
   * answers that it has not acted on are marked as unused, unless yet another call has waited for them, too.
   */
  finish(
    turn: TurnRef,
    toolCallId: string,
    /** `notice`: to be said before the event. */
    result: CallResult & { notice?: NewEvent; stoppedWith?: string[] },
    by?: CallAttempt,
  ): Promise<boolean>;
  /** The calls of a turn that have rounds, also of a turn that has ended. */
  withRounds(turn: TurnRef): Promise<ToolCallRow[]>;
  /** Of all calls of a turn that has ended, once what servers keep open for them is abandoned. */
  forgetRounds(turn: TurnRef): Promise<void>;
  /** What code the calls that are not finished yet are to run with. */
  codeInUse(): Promise<string[]>;
  /** The turn's calls that are not finished yet, those of delegated agents included. */
  unfinished(turn: TurnRef): Promise<UnfinishedCall[]>;
}
