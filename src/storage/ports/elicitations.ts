import type {
  Action,
  ClosedBecause,
  ElicitationRequest,
  Outcome,
  Status,
} from '../../elicitation/elicitation.ts';
import type { ConversationRef, TurnRef } from '../../turn/turn.ts';
import type { TooManyOpen } from '../../turn/ask.ts';
import type { AuditEntry } from './audit.ts';
import type { NewPoll } from './polls.ts';

export interface ElicitationRow extends TurnRef {
  id: string;
  agent: string;
  /** The only user who may answer. */
  user: string;
  request: ElicitationRequest;
  /** For a connection question: its server and the connection version that did not work. */
  server: string | null;
  seenVersion: number | null;
  /** A page that reports that it is done settles it, and consent does not. */
  isReported: boolean;
  status: Status;
  /** The answer that won, when one did. */
  responseId: string | null;
  /** The consent to open its page, while the question is pending. */
  consent: string | null;
  /** Random per question; mixed into response ids, so that logs and history cannot be guessed back to answers. */
  salt: string;
  createdAt: number;
  /** By the database's clock. */
  deadline: number;
  settledAt: number | null;
  because: ClosedBecause | null;
  /** It was accepted, and its turn or its call ended before the answer was acted on. */
  isUnused: boolean;
  /** W3C's `traceparent` of its turn; absent: it is not traced. */
  traceParent?: string;
}

/** What waits for a question: a call, and the workflow that continues it. */
export interface Waiter {
  toolCallId: string;
  /** Notified when the question is settled; null: the process that opened it watches the row itself. */
  workflowId: string | null;
}

export interface NewQuestion extends Pick<
  ElicitationRow,
  | 'id'
  | 'tenant'
  | 'conversation'
  | 'turnId'
  | 'agent'
  | 'user'
  | 'request'
  | 'server'
  | 'seenVersion'
  | 'isReported'
  | 'salt'
> {
  /**
   * Names the place in the turn that asks, once: an account of the turn, a call's approval, a question of a round. A question
   * that is opened again at the same place, after a retry or a reset of the workflow, is the one that is there already.
   */
  place: string;
  waiter: Waiter;
  /** From the opening, by the database's clock. */
  timeoutMs: number;
  /** The server that asks does not wait any longer than until then, in epoch milliseconds. */
  expiresAt?: number;
  /** What is polled while it is open; questions whose poll has the same id share it. */
  poll?: NewPoll;
}

/** A question and what is left until its deadline, by the database's clock. */
export interface TimedQuestion {
  question: ElicitationRow;
  /** 0 once it is settled, and when the deadline has passed. */
  remainingMs: number;
}

export type OpenedQuestions =
  /** In the order in which they were given. Some may be settled already: they were there. */
  | { kind: 'opened'; questions: TimedQuestion[] }
  /** Of an account: it is connected by now, in a newer version than the question's. Nothing was opened. */
  | { kind: 'already-connected'; version: number }
  /** The turn is over, or the call that asks is finished. Nothing was opened. */
  | { kind: 'over' }
  | { kind: TooManyOpen };

export interface Answer {
  responseId: string;
  action: Action;
  /** Sealed by the caller; opaque here. */
  sealedContent: string | null;
  /** It had content, which was deleted after its retention. */
  isDeleted?: true;
  receivedAt: number;
  /** Where it was given; absent: not known. */
  surface?: AnswerSurface;
}

/** `slack`: in a window, or by a button, of Slack's. */
export type AnswerSurface = 'slack' | 'other';

/** Whom questions are put to. */
export interface AskedOf {
  tenant: string;
  user: string;
}

/** How many questions may be open at once. `perTurn`: all that are allowed for the user, unless given. */
export interface OpenLimits {
  perUser: number;
  perTurn?: number;
}

/** Observes every question once, after the commit, in the process that opens or settles it. */
export interface QuestionObserver {
  opened(question: ElicitationRow): void;
  settled(question: ElicitationRow): void;
}

/** What settles questions beside an answer and a connected account (see `Connections.establish`). */
export type SettlingEvent =
  /** Settles only those whose deadline has passed by the database's clock. */
  | { type: 'deadline-passed' }
  | { type: 'expired-by-operator' }
  /** The server that asked does not listen any more. */
  | { type: 'withdrawn'; because: ClosedBecause }
  /** The page that the question sent its user to reports that it has done its work. */
  | { type: 'page-done' }
  /** The call that asks is given up. */
  | { type: 'abandoned' };

export interface Elicitations {
  /**
   * Opens the questions of one call, all of them or none, with their events, in one transaction. A question whose `place`
   * is taken is that one, and gets this waiter too. Locks in the order of `settle`: connection, turn, questions,
   * conversation.
   */
  open(questions: NewQuestion[], limits: OpenLimits): Promise<OpenedQuestions>;
  /**
   * Records an answer and what follows from it by `advance` (elicitation/lifecycle.ts): answer, outcome, event, audit entry
   * and outbox mark in one transaction. The answer is recorded although it settles nothing, as long as the question is
   * pending; not when it is settled or its deadline has passed. For a connection question whose account is connected by now
   * `accept` settles it.
   *
   * `question`: as it is after that. `earlier`: the answer that was recorded before under this response id. `winner`:
   * the answer that settled the question.
   */
  answer(
    id: string,
    answer: Answer & { user: string },
    audit: AuditEntry,
  ): Promise<{
    question: ElicitationRow;
    isOverdue: boolean;
    isNew: boolean;
    earlier: Answer | null;
    winner: Answer | null;
  } | null>;
  /**
   * Applies the event to those of the questions that are pending, in one transaction. Returns all of them, in the given
   * order, as they are afterwards. `except`: a workflow that is not notified, because the caller's activity reports to it.
   */
  settle(
    ids: string[],
    event: SettlingEvent,
    options?: { except?: string; audit?: AuditEntry },
  ): Promise<TimedQuestion[]>;
  /** In the given order, with what is left; ids that do not exist are left out. Reads only. */
  read(ids: string[]): Promise<TimedQuestion[]>;
  get(id: string): Promise<ElicitationRow | null>;
  /** The questions that this call has asked or shared in this turn, oldest first. */
  ofCall(turn: TurnRef, toolCallId: string): Promise<TimedQuestion[]>;
  /** How the turn's questions about this account were settled, when not by `accept`; null when none was. */
  refusalOf(turn: TurnRef, server: string): Promise<Exclude<Outcome, 'accept'> | null>;
  /** A call or workflow does not wait any more. A question without waiters is settled as `cancel`. */
  leave(turn: TurnRef, waiter: { toolCallId: string } | { workflowId: string }): Promise<void>;
  /** The question once it is settled, whatever settles it; null when `signal` aborts first. */
  untilSettled(
    question: ConversationRef & { id: string },
    signal: AbortSignal,
  ): Promise<ElicitationRow | null>;
  ofConversation(ref: ConversationRef, status?: Status): Promise<ElicitationRow[]>;
  /** Those that wait for this user and can still be answered, in all conversations, newest first; at most 100. */
  openOf(asked: AskedOf): Promise<ElicitationRow[]>;
  /**
   * Each question to this user whenever its status changes: first those that are open now, oldest first, possibly none;
   * then others as they open and as they are settled, by any process. Ends only when `signal` aborts.
   */
  followOf(asked: AskedOf, signal: AbortSignal): AsyncIterable<ElicitationRow[]>;
  /** Deletes the content of answers to turns that ended before this time. Returns how many there were. */
  deleteContent(endedBefore: number): Promise<number>;
  /** The recorded answer; null when there is none under this id. */
  recorded(elicitationId: string, responseId: string): Promise<Answer | null>;
}
