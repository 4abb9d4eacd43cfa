/** Tables that turns would not need: sessions of protocols, notifications of turns, the installation. See ../schema.ts. */
import type { LearnedEra } from '../ports/learned-eras.ts';
import type { McpReply } from '../ports/mcp-sessions.ts';
import type { PushConfig } from '../ports/push-configs.ts';

export interface SessionTables {
  mcp_sessions: {
    id: string;
    /** The principal that opened it. */
    owner: string;
    version: string;
    /** JSON: the kinds of questions that its client shows. */
    shows: string;
    expires_at: number;
  };
  mcp_calls: {
    session_id: string;
    /** JSON: the request's id in JSON-RPC, a string or a number. */
    request_id: string;
    conversation: string;
    turn_id: string;
    tool: string;
    /** JSON: a string or a number. */
    progress_token: string | null;
    /** Null where an older release wrote the row. */
    idempotency_key: string | null;
    created_at: number;
  };
  mcp_replies: {
    session_id: string;
    elicitation_id: string;
    kind: McpReply['kind'];
    reasons: string | null;
    /** How many there have been to this question. */
    times: number;
  };
  /** Of the pages; see ports/ended-sessions.ts. */
  ended_sessions: {
    id_hash: string;
    expires_at: number;
  };
  learned_eras: {
    server: string;
    tool: string;
    era: LearnedEra['era'];
    identity: string;
    learned_at: number;
  };
  push_configs: {
    delivery_id: string;
    tenant: string;
    turn_id: string;
    conversation: string;
    /** The principal that made it. */
    caller: string;
    id: string;
    wire: PushConfig['wire'];
    structured: number;
    position: number;
    sealed: string;
  };
  /** One row at most; see tables/installation.ts. */
  installation: {
    key: string;
    id: string;
    generation: number;
    token: string | null;
    next_token: string | null;
    /** When the next generation is to be written. */
    due_at: number;
  };
}
