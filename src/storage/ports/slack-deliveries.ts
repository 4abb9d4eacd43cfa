/** Answers on their way to Slack. What they say is in the turn's log only: here are places, lengths and digests. */
import type { TurnRef } from '../../turn/turn.ts';

export interface SlackDeliveries {
  /** An earlier one of this turn stays. */
  begin(delivery: NewSlackDelivery): Promise<void>;
  get(turnId: string): Promise<SlackDelivery | null>;
  /** Takes it over from whoever writes to it now, who can write no more. */
  hold(turnId: string, holder: string): Promise<void>;
  /** All of it is shown that ever will be: later answers of its conversation may follow. */
  end(turnId: string): Promise<void>;
  /**
   * Answers of its conversation that come before it in the thread and are still on their way, by turn, first one first.
   * One at which nobody has tried for `deadMs` is left out: its workflow is gone.
   */
  earlier(turnId: string, deadMs: number): Promise<string[]>;
  /** Slack does not stream there: its messages are edited as they grow. */
  stopStreaming(turnId: string): Promise<void>;
  /** In their order. */
  messages(turnId: string): Promise<SlackMessageRow[]>;
  /** Writes the message's row, anew or again. False: somebody else holds the delivery by now, and nothing was written. */
  put(holder: string, message: SlackMessageRow): Promise<boolean>;
  /** It is not in Slack, or not any more. False as with `put`. */
  drop(holder: string, message: Pick<SlackMessageRow, 'turnId' | 'number'>): Promise<boolean>;
  /** Whether one of our messages has this place. */
  isOurs(place: { team: string; channel: string; ts: string }): Promise<boolean>;
  /** The message that shows this question; null: none yet. */
  ofQuestion(elicitationId: string): Promise<SlackMessageRow | null>;
}

/** Where the answer to a turn goes, and whom it asks. */
export interface NewSlackDelivery {
  turn: Pick<TurnRef, 'tenant' | 'conversation' | 'turnId'>;
  team: string;
  channel: string;
  threadTs: string;
  slackUser: string;
}

export interface SlackDelivery extends NewSlackDelivery {
  streams: boolean;
}

export interface SlackMessageRow {
  turnId: string;
  /** In the order of the thread, from 1. */
  number: number;
  team: string;
  channel: string;
  /** Slack's id of it; null: it is about to be posted, or was, and nobody knows. */
  ts: string | null;
  kind: 'text' | 'question' | 'end';
  /** Which text of the answer, or which question. */
  subject: string;
  /** Of a text: from where to where it is shown here. */
  begins: number;
  ends: number;
  /** Of what is shown. */
  digest: string;
  /** False while a call is under way, and after one of which nobody knows whether it was carried out. */
  isSure: boolean;
  /** More may be added to it. */
  isOpen: boolean;
  isStream: boolean;
  startedAt: number;
}
