/** Tables of questions, answers, approvals, and the audit. See ../schema.ts. */
import type {
  ClosedBecause,
  Status,
  ElicitationRequest,
} from '@interlude-ai/core/elicitation/elicitation.ts';
import type { TurnRef, Turn } from '../../turn/turn.ts';
import type { Columns } from '../columns.ts';

type AuditAction =
  /** The person was sent to the question's page. */
  | 'opened'
  | 'answered'
  | 'refused'
  | 'connected'
  | 'disconnected'
  | 'withdrawn'
  /** Database and Temporal, by an operator; in no tenant. */
  | 'adopted'
  /** A turn or a question, by an operator. */
  | 'cancelled'
  | 'expired'
  /** The contents of a turn, by an operator. */
  | 'viewed'
  /** A conversation, or everything of a user. */
  | 'exported'
  | 'erased';

export type PollSubject =
  /** The stream of a call that was left open, or the session in which its server reports that a page is done. */
  | { kind: 'stream' | 'pages'; turn: Turn; toolCallId: string; server: string; round: number }
  /** An account that another system keeps. `seenVersion`: the connection version that did not work. */
  | { kind: 'connection'; turn: Turn; server: string; seenVersion: number };

/**
 * Something that Temporal or a server does not know yet, and a transaction has decided. A signal is only a hint: its receiver
 * reads the rows.
 */
export type Mark = { id: string } &
  /** One for each waiting workflow; none if the question closes with its turn, whose workflow ends or is cancelled. */
  (
    | { kind: 'settled'; workflowId: string; elicitationId: string; turn: TurnRef }
    /** The turn has ended or is to end: its workflow is cancelled. */
    | { kind: 'cancel'; workflowId: string; turn: TurnRef }
    /** Servers keep calls of the ended turn open: they are notified, and then the rows that this needs are deleted. */
    | { kind: 'abandon'; turn: TurnRef }
    /** A command has settled the question. The process that delivers the mark logs, counts and traces it. */
    | { kind: 'report'; elicitationId: string; turn: TurnRef }
    /** The turn was erased: Temporal deletes the history of this workflow, and of those that the turn has started. */
    | { kind: 'forget'; workflowId: string; turn: TurnRef; failures: number }
  );

export interface ElicitationRow extends TurnRef {
  id: string;
  agent: string;
  /** The only user who may answer. */
  user: string;
  request: ElicitationRequest;
  /** For a connection question: its server and the connection version that did not work. */
  server: string | null;
  seenVersion: number | null;
  /** Only the report of its page settles it, not the consent to open the page. */
  isReported: boolean;
  status: Status;
  /** The answer that settled it. */
  responseId: string | null;
  /** The consent to open its page, while the question is pending. */
  consent: string | null;
  /** Random; mixed into response ids, so that answers cannot be guessed from logs and histories. */
  salt: string;
  createdAt: number;
  /** By the database's clock. */
  deadline: number;
  settledAt: number | null;
  because: ClosedBecause | null;
  /** It was accepted, and its turn or its call ended before the answer was used. */
  isUnused: boolean;
  /** W3C's `traceparent` of its turn; absent: it is not traced. */
  traceParent?: string;
}

/** `slack`: in a window, or by a button, of Slack. */
export type AnswerSurface = 'slack' | 'other';

export interface AuditEntry {
  at: number;
  tenant: string;
  /** Empty if it is about no question. */
  elicitationId: string;
  /** A user id; null: unknown. */
  actor: string | null;
  /** Absent: it is about no turn, or about the question's turn. */
  turnId?: string;
  action: AuditAction;
  /** Low-cardinality, never an answer's content. */
  detail: string;
  address: string | null;
}

export interface QuestionTables {
  elicitations: Columns<Omit<ElicitationRow, 'delegation' | 'request' | 'traceParent'>> & {
    /** JSON. */
    request: string;
    /** The place in the turn that asks; see `NewQuestion`. */
    place: string;
    /** The poll that runs while it is open. */
    look: string | null;
    trace_parent: string | null;
  };
  /** Calls that wait for a pending question, or have waited for it until it was settled. */
  question_waiters: {
    elicitation_id: string;
    tool_call_id: string;
    /** Null: the process that opened the question watches the row itself. */
    workflow_id: string | null;
  };
  /** What Temporal and servers do not know yet; see ../tables/outbox.ts. */
  outbox: {
    id: string;
    kind: Mark['kind'];
    workflow_id: string | null;
    elicitation_id: string | null;
    tenant: string;
    conversation: string;
    turn_id: string;
    due_at: number;
    /** 1: a process is delivering it, if it is not due yet. */
    is_leased: number;
    failures: number;
  };
  looks: {
    id: string;
    kind: PollSubject['kind'];
    server: string;
    subject: string;
    due_at: number;
    /** The number of runs. */
    looks: number;
  };
  elicitation_answers: {
    elicitation_id: string;
    response_id: string;
    action: 'accept' | 'decline' | 'cancel';
    sealed_content: string | null;
    received_at: number;
    /** Null: unknown. */
    surface: AnswerSurface | null;
  };
  approvals: {
    id: string;
    tenant: string;
    user_id: string;
    server: string;
    place: string;
    tool: string;
    /** Null: an earlier release wrote the row, and it applies to no call. */
    definition: string | null;
    /** Empty: all conversations. */
    conversation: string;
    created_at: number;
    withdrawn_at: number | null;
  };
  audit: {
    id: string;
    at: number;
    tenant: string;
    elicitation_id: string;
    /** Null: it is about no turn, or about the question's turn. */
    turn_id: string | null;
    actor: string | null;
    action: AuditEntry['action'];
    detail: string;
    address: string | null;
    /** In the chain of its tenant; null until it is sealed. */
    position: number | null;
  };
  /** What remains of audit entries when their contents are deleted; see ../tables/audit-chain.ts. */
  audit_chain: {
    tenant: string;
    /** From 1, without gaps. */
    position: number;
    /** Never decreases within a tenant. */
    sealed_at: number;
    hash: string;
    chain: string;
  };
}
