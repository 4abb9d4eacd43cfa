import type {
  Action,
  ClosedBecause,
  ElicitationRequest,
  Outcome,
  Settlement,
  Status,
} from '../../elicitation/elicitation.ts';
import type { ConversationRef, TurnRef } from '../../turn/turn.ts';
import type { TooManyOpen } from '../../turn/ask.ts';
import type { NewPoll } from './polls.ts';
import type { ConnectionKey } from './connections.ts';

export interface ElicitationRow extends TurnRef {
  id: string;
  /** The workflow that owns the question; answers are signalled to it. */
  workflowId: string;
  agent: string;
  /** The only user who may answer. */
  user: string;
  request: ElicitationRequest;
  /** For a connection question: its server and the connection version that did not work. */
  server: string | null;
  seenVersion: number | null;
  status: Status;
  /** The answer that won, when one did. */
  responseId: string | null;
  /** Random per question; mixed into response ids so that history cannot be guessed back to answers. */
  salt: string;
  createdAt: number;
  deadline: number;
  settledAt: number | null;
  because: ClosedBecause | null;
}

export interface Answer {
  responseId: string;
  action: Action;
  /** Sealed by the caller; opaque here. */
  sealedContent: string | null;
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

/** Is told of every question, once, after the commit: whoever opens or settles it, in this process. */
export interface QuestionObserver {
  opened(question: ElicitationRow): void;
  settled(question: ElicitationRow): void;
}

export interface Elicitations {
  /**
   * Row and event in one transaction; opening an id again is a no-op and answers `opened`.
   * `too-many-open` when as many questions are open as `limits` allow, of the user or of the turn; then nothing is
   * written. `poll`: what is polled while it is open; questions whose poll has the same id share it.
   */
  open(
    row: Omit<ElicitationRow, 'status' | 'responseId' | 'createdAt' | 'settledAt' | 'because'>,
    limits: OpenLimits,
    poll?: NewPoll,
  ): Promise<'opened' | TooManyOpen>;
  /** `pending` → outcome, row and event in one transaction; the first settlement wins. */
  settle(id: string, outcome: Outcome, responseId: string | null, because?: ClosedBecause): Promise<boolean>;
  /** The same for some questions of one turn, in one transaction. Answers with those that it settled. */
  settleAll(settlements: Settlement[]): Promise<ElicitationRow[]>;
  get(id: string): Promise<ElicitationRow | null>;
  /** The question once it is settled, whoever settles it; null when `signal` aborts first. */
  untilSettled(
    question: ConversationRef & { id: string },
    signal: AbortSignal,
  ): Promise<ElicitationRow | null>;
  ofConversation(ref: ConversationRef, status?: Status): Promise<ElicitationRow[]>;
  /** Those that wait for this user and can still be answered, in all conversations, newest first; at most 100. */
  openOf(asked: AskedOf): Promise<ElicitationRow[]>;
  /**
   * Each question to this user whenever its status changes: first those that are open now, oldest first, possibly none;
   * then others as they open and as they are settled, by whatever process. Ends only when `signal` aborts.
   */
  followOf(asked: AskedOf, signal: AbortSignal): AsyncIterable<ElicitationRow[]>;
  /** Pending connection questions of one user for one server, in all conversations. */
  pendingFor(key: ConnectionKey): Promise<ElicitationRow[]>;
  /**
   * Pending connection questions whose account has meanwhile been connected: their signal may have been lost.
   * Only before their deadline; after it their workflow needs nobody to tell it.
   */
  connectedButPending(): Promise<(ElicitationRow & { version: number })[]>;
  /** Says on the log, once, that the user agreed to what is still open. Nothing for a question that is settled. */
  noteConsent(
    question: Pick<ElicitationRow, 'id' | 'tenant' | 'conversation' | 'turnId' | 'request'>,
  ): Promise<void>;
  /** Remembers an answer before it is signalled. False when this response id was already there. */
  storeAnswer(elicitationId: string, answer: Answer): Promise<boolean>;
  answer(elicitationId: string, responseId: string): Promise<Answer | null>;
}
