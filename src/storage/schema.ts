/**
 * The tables as the query builder sees them; the migrations create them. Portable columns only, so that SQLite and PostgreSQL hold the same rows:
 * text ids, epoch milliseconds and counters as integers, JSON in text, no enums, arrays or bytes.
 */
import type { ClosedBecause, ConnectionReason, Status } from '../elicitation/elicitation.ts';
import type { StepFinish } from '../turn/step.ts';
import type { TurnStatus } from '../turn/turn.ts';
import type { AuditEntry } from './ports/audit.ts';
import type { ConnectionRow } from './ports/connections.ts';
import type { PollSubject } from './ports/polls.ts';
import type { StoredMessage } from './ports/conversations.ts';
import type { ToolCallRow } from './ports/tool-calls.ts';
import type { ToolList } from './ports/tool-catalogue.ts';

export interface Tables {
  conversations: {
    tenant: string;
    conversation: string;
    user_id: string | null;
    agent: string;
    /** Counters of the log and of the messages; whoever writes takes numbers here and so waits in line. */
    last_seq: number;
    last_position: number;
    created_at: number;
    /** When something was last written to it. */
    updated_at: number;
  };
  turns: {
    turn_id: string;
    tenant: string;
    conversation: string;
    user_id: string | null;
    agent: string;
    capabilities: string;
    status: TurnStatus;
    client_message_id: string;
    /** The turn's first messages, which enter the conversation when it begins; null once it has ended. */
    staged: string | null;
    created_at: number;
    ended_at: number | null;
    /** Since when its workflow has been ending it. */
    ending_at: number | null;
    /** When somebody is to look after it (see due-turns.ts); null when nothing is left to do. */
    due_at: number | null;
  };
  /** A step that was kept, or was begun again; see steps.ts. */
  turn_steps: {
    turn_id: string;
    key: string;
    /** The newest that has begun, or the one that kept it. */
    attempt: number;
    /** Null until it is kept. */
    finish: StepFinish | null;
    input_tokens: number | null;
    output_tokens: number | null;
  };
  turn_events: {
    tenant: string;
    conversation: string;
    seq: number;
    turn_id: string;
    key: string;
    event: string;
    at: number;
  };
  messages: {
    tenant: string;
    conversation: string;
    id: string;
    position: number;
    turn_id: string;
    role: StoredMessage['role'];
    content: string;
    /** Of a delegated agent's own transcript (see delegation.ts); null in the conversation's. */
    delegation: string | null;
    created_at: number;
  };
  tool_calls: {
    turn_id: string;
    tool_call_id: string;
    tool_name: string;
    input: string;
    state: ToolCallRow['state'];
    /** The newest that has written; see call-attempt.ts. */
    attempt: number;
    /** Of a call that a delegated agent makes. */
    delegation: string | null;
    /** How far it said it had come. */
    progress: number | null;
    created_at: number;
  };
  tool_call_rounds: {
    turn_id: string;
    tool_call_id: string;
    round: number;
    sealed: string;
    created_at: number;
  };
  tool_bundles: {
    hash: string;
    sealed: string;
    created_at: number;
    /** When a worker last said that it runs it. */
    used_at: number;
  };
  tool_effects: {
    workflow_id: string;
    activity_id: string;
    turn_id: string;
    name: string;
    state: 'started' | 'finished';
    /** Null until it is finished, and once its tool has ended. */
    sealed: string | null;
    created_at: number;
  };
  idempotency_keys: {
    tenant: string;
    /** Empty for services: a primary key cannot hold null. */
    user_id: string;
    key: string;
    fingerprint: string;
    conversation: string;
    client_message_id: string;
    created_at: number;
  };
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
  };
  connections: {
    tenant: string;
    server: string;
    /** Empty for a credential of the whole tenant: a primary key cannot hold null. */
    user_id: string;
    store: string;
    version: number;
    /** A removed connection keeps its row, without its secret, so that versions never go back. */
    status: ConnectionRow['status'] | 'removed';
    broken_reason: ConnectionReason | null;
    account: string | null;
    scopes: string;
    sealed: string;
    fresh_until: number | null;
    troubled_at: number | null;
    created_at: number;
    updated_at: number;
  };
  connect_attempts: {
    id: string;
    tenant: string;
    server: string;
    /** Empty for an account of the whole tenant. */
    user_id: string;
    /** Empty when no question is to be answered by it. */
    elicitation_id: string;
    /** Who began it. */
    actor: string;
    created_at: number;
    expires_at: number;
  };
  account_permits: {
    tenant: string;
    server: string;
    user_id: string;
    expires_at: number;
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
  locks: {
    name: string;
    owner: string;
    expires_at: number;
  };
  oauth_attempts: {
    state_hash: string;
    /** Empty when no question is to be answered by it. */
    elicitation_id: string;
    session_hash: string;
    sealed: string;
    expires_at: number;
  };
  oauth_records: {
    key: string;
    sealed: string;
    updated_at: number;
  };
  key_proofs: {
    key_id: string;
    proof: string;
    created_at: number;
  };
  tool_catalogue: {
    tenant: string;
    server: string;
    /** Empty for a list that is nobody's own: a primary key cannot hold null. */
    user_id: string;
    tools: string;
    audience: ToolList['audience'];
    /** Null when the server did not say how soon it is out of date. */
    fresh_ms: number | null;
    updated_at: number;
  };
  api_keys: {
    id: string;
    tenant: string;
    hash: string;
    created_by: string | null;
    last_used_at: number | null;
    created_at: number;
    revoked_at: number | null;
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

/** Reads a JSON column. What is in it was written by this program from a value of that type. */
export function fromJson<T>(text: string): T {
  return JSON.parse(text) as T;
}
