/** Tables of conversations, turns, their logs, and what turns call. See ../schema.ts. */
import type { LeftOut } from '../../turn/left-out.ts';
import type { StepFinish } from '../../turn/step.ts';
import type { TurnStatus } from '../../turn/turn.ts';

/** `turns`: of turns and deliveries, one for each version of this program; `tools`: of a folder of tools in TypeScript. */
export type CodeKind = 'turns' | 'tools';

export interface ToolCallRow {
  toolCallId: string;
  toolName: string;
  input: unknown;
  /**
   * `requested` by the model → `started`: a request may have been sent → `finished`: the model has its result. `paused`:
   * between two rounds, the server has asked, and nothing is under way until people have answered.
   */
  state: 'requested' | 'started' | 'paused' | 'finished';
  /** When the model asked for it. */
  createdAt: number;
}

/** A message as the model is given it: AI SDK `ModelMessage` content. */
export interface StoredMessage {
  /** Unique in the conversation; storing an id again is a no-op. */
  id: string;
  turnId: string;
  role: 'user' | 'assistant' | 'tool';
  content: unknown;
  /** What the model is no longer given of it; absent: it is given everything. */
  leftOut?: LeftOut;
}

export interface TurnTables {
  conversations: {
    tenant: string;
    conversation: string;
    user_id: string | null;
    /** The owner if there is no user; null: made by a key without a named service. */
    service: string | null;
    agent: string;
    /** Counters of the log and of the messages. Writers take numbers here, and so queue. */
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
    /** As in its conversation. */
    service: string | null;
    agent: string;
    capabilities: string;
    status: TurnStatus;
    client_message_id: string;
    /** The turn's first messages, which enter the conversation when it begins; null once it has ended. */
    staged: string | null;
    created_at: number;
    ended_at: number | null;
    /** When its workflow began to end it. */
    ending_at: number | null;
    /** The version it started with; '': Temporal chose it; null: a release without versions started it. */
    build_id: string | null;
    /** When it is to be looked after (see `claimDueTurns`); null: nothing is left to do. */
    due_at: number | null;
    /** W3C's `traceparent` of its first span; null: it is not traced. */
    trace_parent: string | null;
  };
  /** A step that was kept, or begun again; see ../tables/steps.ts. */
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
    /** Of a delegated agent's own transcript (see ../log/append.ts); null in the conversation's. */
    delegation: string | null;
    /** What the model is no longer given of it; null: it is given everything. See turn/left-out.ts. */
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
    /** The newest that has written; see ../tables/call-attempt.ts. */
    attempt: number;
    /** Of a call by a delegated agent. */
    delegation: string | null;
    /** The progress it has reported. */
    progress: number | null;
    /** Until then the attempt is alive, and later ones do not take the call over. */
    held_until: number | null;
    /** 1: it has asked or shared a question. */
    has_asked: number;
    /** How often it has failed since it was requested, or since its server's last question. */
    failures: number;
    /** The code that an unfinished call needs, if no open workflow shows that. */
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
    /** The build id of code of turns; the hash of a bundle of tools. */
    id: string;
    kind: CodeKind;
    /** The contract that it needs: see workflows/contract.ts. */
    needs: number;
    sealed: string;
    created_at: number;
    /** When a worker last reported that it runs it. */
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
    kind: 'api' | 'worker' | 'start';
    oldest_contract: number;
    newest_contract: number;
    build_id: string | null;
    /** By the database's clock. */
    lease_until: number;
  };
  agent_exposed_tools: {
    agent: string;
    name: string;
    /** JSON: its other members. */
    description: string;
  };
  tool_effects: {
    workflow_id: string;
    activity_id: string;
    turn_id: string;
    name: string;
    state: 'started' | 'finished';
    /** Null until it is finished, and after its tool has ended. */
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
