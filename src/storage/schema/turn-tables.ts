/** Tables of conversations, turns, their logs, and what turns call. See ../schema.ts. */
import type { LeftOut } from '../../turn/left-out.ts';
import type { StepFinish } from '../../turn/step.ts';
import type { TurnStatus } from '../../turn/turn.ts';
import type { StoredMessage } from '../ports/conversations.ts';
import type { ToolCallRow } from '../ports/tool-calls.ts';
import type { CodeKind } from '../ports/workflow-code.ts';

export interface TurnTables {
  conversations: {
    tenant: string;
    conversation: string;
    user_id: string | null;
    /** Without a user: whose it is; null: made by a key without a named service. */
    service: string | null;
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
    /** As of its conversation. */
    service: string | null;
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
    /** The version it started with; '': Temporal chose it; null: a release without versions started it. */
    build_id: string | null;
    /** When somebody is to look after it (see due-turns.ts); null when nothing is left to do. */
    due_at: number | null;
    /** W3C's `traceparent` of the span with which it began; null: it is not traced. */
    trace_parent: string | null;
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
    /** What of it the model is no longer given; null: nothing. See turn/left-out.ts. */
    left_out: LeftOut | null;
    created_at: number;
  };
  images: {
    turn_id: string;
    digest: string;
    /** Base64. */
    data: string;
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
    /** The attempt is alive until then at least, and no later one takes the call over. */
    held_until: number | null;
    /** 1: it has asked a question, or shared one. */
    has_asked: number;
    /** How often it has failed since it was asked for, or its server last asked something. */
    failures: number;
    /** The code that an unfinished call is to run with, where no open workflow shows that. */
    code: string | null;
    created_at: number;
  };
  tool_call_rounds: {
    turn_id: string;
    tool_call_id: string;
    round: number;
    sealed: string;
    created_at: number;
  };
  workflow_code: {
    id: string;
    kind: CodeKind;
    /** The contract that it needs: see workflows/contract.ts. */
    needs: number;
    sealed: string;
    created_at: number;
    /** When a worker last said that it runs it. */
    used_at: number;
  };
  deployed_versions: {
    deployment: string;
    build_id: string;
    /** The highest is current. */
    rank: number;
    since: number;
  };
  processes: {
    id: string;
    deployment: string;
    kind: 'api' | 'worker';
    oldest_contract: number;
    newest_contract: number;
    /** By the database's clock. */
    lease_until: number;
  };
  agent_exposed_tools: {
    agent: string;
    name: string;
    /** JSON: all else of it. */
    description: string;
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
}
