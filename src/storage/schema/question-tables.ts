/** Tables of questions, answers, what was approved in advance, and the audit. See ../schema.ts. */
import type { ClosedBecause, Status } from '../../elicitation/elicitation.ts';
import type { AuditEntry } from '../ports/audit.ts';
import type { AnswerSurface } from '../ports/elicitations.ts';
import type { PollSubject } from '../ports/polls.ts';

export interface QuestionTables {
  elicitations: {
    id: string;
    tenant: string;
    conversation: string;
    turn_id: string;
    workflow_id: string;
    agent: string;
    user_id: string;
    request: string;
    server: string | null;
    seen_version: number | null;
    status: Status;
    response_id: string | null;
    salt: string;
    created_at: number;
    deadline: number;
    settled_at: number | null;
    because: ClosedBecause | null;
    /** What is looked at while it is open. */
    look: string | null;
  };
  looks: {
    id: string;
    workflow_id: string;
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
    actor: string | null;
    action: AuditEntry['action'];
    detail: string;
    address: string | null;
  };
}
