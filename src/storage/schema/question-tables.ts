/** Tables of questions, answers, what was approved in advance, and the audit. See ../schema.ts. */
import type { ClosedBecause, Status } from '../../elicitation/elicitation.ts';
import type { AuditEntry } from '../ports/audit.ts';
import type { AnswerSurface } from '../ports/elicitations.ts';
import type { Mark } from '../ports/outbox.ts';
import type { PollSubject } from '../ports/polls.ts';

export interface QuestionTables {
  elicitations: {
    id: string;
    tenant: string;
    conversation: string;
    turn_id: string;
    /** The place in the turn that asks, once. */
    place: string;
    agent: string;
    user_id: string;
    request: string;
    server: string | null;
    seen_version: number | null;
    /** 1: a page that reports that it is done settles it. */
    is_reported: number;
    status: Status;
    /** The consent to open its page, while it is pending. */
    consent: string | null;
    response_id: string | null;
    salt: string;
    created_at: number;
    deadline: number;
    settled_at: number | null;
    because: ClosedBecause | null;
    /** 1: its turn or its call ended before the accepted answer was acted on. */
    is_unused: number;
    /** What is polled while it is open. */
    look: string | null;
    /** That of its turn. */
    trace_parent: string | null;
  };
  /** Calls that wait for a pending question, or have waited for one until it was settled. */
  question_waiters: {
    elicitation_id: string;
    tool_call_id: string;
    /** Null: the process that opened the question watches the row itself. */
    workflow_id: string | null;
  };
  /** What Temporal and servers still have to be notified of; see ../tables/outbox.ts. */
  outbox: {
    id: string;
    kind: Mark['kind'];
    workflow_id: string | null;
    elicitation_id: string | null;
    tenant: string;
    conversation: string;
    turn_id: string;
    due_at: number;
    /** 1: a process is delivering it, unless it is due again by now. */
    is_leased: number;
    failures: number;
  };
  looks: {
    id: string;
    kind: PollSubject['kind'];
    server: string;
    subject: string;
    due_at: number;
    /** How many have been made. */
    looks: number;
  };
  elicitation_answers: {
    elicitation_id: string;
    response_id: string;
    action: 'accept' | 'decline' | 'cancel';
    sealed_content: string | null;
    received_at: number;
    /** Null: not known. */
    surface: AnswerSurface | null;
  };
  approvals: {
    id: string;
    tenant: string;
    user_id: string;
    server: string;
    place: string;
    tool: string;
    /** Null where an earlier release wrote the row: it counts for no call. */
    definition: string | null;
    /** Empty for all of them. */
    conversation: string;
    created_at: number;
    withdrawn_at: number | null;
  };
  audit: {
    id: string;
    at: number;
    tenant: string;
    elicitation_id: string;
    /** Null where it is about no turn, or about a turn by its question. */
    turn_id: string | null;
    actor: string | null;
    action: AuditEntry['action'];
    detail: string;
    address: string | null;
  };
}
