import type {
  ConversationRef,
  Turn,
  TurnEndStatus,
  TurnOwner,
  TurnRef,
  TurnStatus,
  Usage,
} from '../../turn/turn.ts';
import type { AuditEntry } from './audit.ts';
import type { NewImage } from './images.ts';
import type { NewEvent } from './turn-log.ts';
import type { ConversationRow, StoredMessage } from './conversations.ts';
import type { ToolCallRow, CallResult } from './tool-calls.ts';
import type { ElicitationRow } from './elicitations.ts';

export interface TurnRow extends Turn, TurnOwner {
  status: TurnStatus;
  /** The id the client gave its message; the same id twice joins the first turn. */
  clientMessageId: string;
  createdAt: number;
  /** Since when it has been stopping what it does, to end. */
  endingAt: number | null;
  endedAt: number | null;
  /** The version of the workflow code that it started with; '': Temporal chose it; null: a release without versions started it. */
  buildId: string | null;
  usage: Usage | null;
}

export interface NewTurn extends Turn, TurnOwner {
  clientMessageId: string;
  /** What the turn starts with: normally one user message; the whole history for a conversation that is new. */
  messages: Omit<StoredMessage, 'turnId'>[];
  /** That these messages name; none unless given. */
  images?: NewImage[];
  /** W3C's `traceparent` of the span with which the turn begins; absent: it is not traced. */
  traceParent?: string;
}

/** What is written at the end of a turn, in this order. */
export interface Ending {
  /** The result of a call that has none, those of delegated agents included. */
  resultOf?(call: ToolCallRow): CallResult;
  messages?: Omit<StoredMessage, 'turnId'>[];
  events?: NewEvent[];
  /** The turn's own workflow ends it, so its cancellation is not queued. */
  isOwn?: boolean;
  /** Written with the end. */
  audit?: AuditEntry | undefined;
  /** Abandoning its calls is not queued: a copy of this installation may still be making them. */
  keepsCalls?: boolean;
}

/** How a new message treats the live turn of its conversation. */
export interface Replacing {
  /** `refuse`: a turn that is at work is left alone. `cancel`: it is ended. One that only waits for people makes room. */
  onBusy: 'refuse' | 'cancel';
  /** As in `Ending`, for the turn that makes room. */
  resultOf(live: TurnRow, status: TurnEndStatus): (call: ToolCallRow) => CallResult;
}

export type Prepared =
  /** `replaced`: the turn that has made room, and how it ended. */
  | { kind: 'prepared'; buildId: string; replaced?: TurnRow }
  /** Another turn was prepared for the same client message. */
  | { kind: 'known' }
  /** The live turn is at work, or its end has begun. */
  | { kind: 'busy'; turnId: string; isEnding: boolean }
  | { kind: 'foreign-conversation' }
  | { kind: 'no-version' };

export interface Ended {
  /** `cancelled` where a turn that was asked to stop was to end as `completed`. */
  status: TurnEndStatus;
  startedAt: number;
  /** That the end has closed. */
  questions: ElicitationRow[];
}

/** `dueAt`: when it is looked at again, unless something happens to it before. */
export interface DueTurn extends TurnRef {
  status: TurnStatus;
  createdAt: number;
  dueAt: number;
}

/** Which of an owner's turns are listed. */
export interface TurnFilter {
  agent: string;
  conversation?: string | undefined;
  statuses?: TurnStatus[] | undefined;
  /** Changed at this time or later, in epoch milliseconds. */
  since?: number | undefined;
}

/** A place in the list: the last turn of the page before. */
export interface TurnPosition {
  changedAt: number;
  turnId: string;
}

export interface Turns {
  conversation(ref: ConversationRef): Promise<ConversationRow | null>;
  /**
   * Writes the turn as `starting`, with its messages set aside, and their images, in one transaction. The conversation row is
   * made if it is new. Nothing but `prepared` writes anything. Nothing is visible to readers yet.
   *
   * A conversation has one live turn. The one that is there makes room, ended as `superseded`, when it only waits for
   * people: at least one call is unfinished, every innermost unfinished call has a pending question, no accepted answer is
   * still to be acted on, and no model step and no effect is under way (storage/tables/superseding.ts).
   *
   * The turn starts with the version that is current in `deployment`; without a deployment it has none.
   */
  prepare(turn: NewTurn, replacing: Replacing, deployment?: string): Promise<Prepared>;
  /**
   * `starting` → `running`: the messages enter the conversation and `turn-started` enters the log, in one
   * transaction. Again on a running turn: true, nothing changes. False when it was withdrawn or has ended.
   */
  begin(turn: TurnRef): Promise<boolean>;
  /** `starting` → gone. False when the workflow had already begun it, or it has ended. */
  withdraw(turn: TurnRef): Promise<boolean>;
  /**
   * The turn is to stop: its open questions are settled as `cancel`, and the cancellation of its workflow is queued, in one
   * transaction with the entry of the audit; processes that work for it are notified. Its workflow writes the end. False:
   * it was not live.
   */
  cancel(turn: TurnRef, audit?: AuditEntry): Promise<boolean>;
  /** The same, called by the turn's own workflow: its cancellation is not queued. */
  announceEnd(turn: TurnRef): Promise<void>;
  /** True as soon as the turn is ending or has ended; false when `signal` aborts first. Never rejects. */
  whenEnding(turn: TurnRef, signal: AbortSignal): Promise<boolean>;
  /**
   * Writes what the turn leaves undone, closes open questions as `cancel`, marks accepted answers that were not acted on as
   * unused, and writes the terminal event and status, in one transaction; the first end wins. Unless `isOwn`, the
   * cancellation of its workflow is queued. Where servers may keep calls open, abandoning them is queued by either, and their
   * rounds stay until then. Null when there was nothing to end, or the turn had not begun, so that its log has no end.
   */
  end(turn: TurnRef, status: TurnEndStatus, ending?: Ending): Promise<Ended | null>;
  /**
   * Turns to look after, longest due first: not ended, and so perhaps without a workflow by now, or ended and perhaps
   * not merged. Nobody else gets them for `againMs`; merging a turn takes it off the list.
   */
  claimDue(limit: number, againMs: number): Promise<DueTurn[]>;
  /** The same, of turns that have not ended within `longestMs`. */
  claimOverdue(limit: number, againMs: number, longestMs: number): Promise<DueTurn[]>;
  get(turn: TurnRef): Promise<TurnRow | null>;
  /** The same, whatever its conversation. */
  find(turn: Pick<TurnRef, 'tenant' | 'turnId'>): Promise<TurnRow | null>;
  /** Last changed first, by their end, or their beginning while they go on; with how many there are in all. */
  list(
    owner: TurnOwner,
    filter: TurnFilter,
    page: { after: TurnPosition | null; limit: number },
  ): Promise<{ rows: TurnRow[]; total: number }>;
  /** The running turn of a conversation, or null when it is idle. */
  live(ref: ConversationRef): Promise<TurnRow | null>;
  /** The turn that a client's message id started in this conversation, whatever became of it. */
  byClientMessage(ref: ConversationRef, clientMessageId: string): Promise<TurnRow | null>;
  /** Content of the message that the turn began with, also before it has begun; null when it was withdrawn. */
  given(turn: TurnRef & Pick<TurnRow, 'clientMessageId'>): Promise<unknown>;
}
