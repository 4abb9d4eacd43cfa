/** Tables that turns do not need: sessions of protocols, notifications of turns, the installation, what was deleted. See ../schema.ts. */
import type { TurnRef } from '../../turn/turn.ts';
import type { Columns } from '../columns.ts';

export interface PushConfigKey {
  turn: Pick<TurnRef, 'tenant' | 'turnId'>;
  /** The principal that made it. Other principals do not see it. */
  caller: string;
  id: string;
}

export interface PushConfig extends PushConfigKey {
  turn: Pick<TurnRef, 'tenant' | 'conversation' | 'turnId'>;
  /** Names its delivery. Changes with any other member. */
  deliveryId: string;
  /** The protocol version of the target. */
  wire: '1.0' | '0.3';
  /** Its caller supports the extension for questions. */
  isStructured: boolean;
  /** The log's position when it was made: the first notification shows the turn as of then. */
  position: number;
  sealed: string;
}

/** A client's reply to a question that stays open. */
export interface McpReply {
  elicitationId: string;
  /** `misfit`: asked again. `awaited`: answered, and a page or an account is to follow. `undelivered`: cannot be asked. */
  kind: 'misfit' | 'awaited' | 'undelivered';
  /** Of a misfit: the fields and what they accept; never what was entered. */
  reasons: string | null;
  /** The number of replies to this question. */
  times: number;
}

/** The protocol era in which an MCP server can ask, learned from a call that failed in the other era. */
export interface LearnedEra {
  /** A hash of the server's address or command. */
  server: string;
  tool: string;
  era: 'modern' | 'legacy';
  /** The server's name and version then. What was learned does not apply to another one. */
  identity: string;
}

/** What is deleted of a turn before the turn itself. */
export type TurnData = 'log' | 'answers' | 'images' | 'state';

/** What was erased on request: one conversation, or everything of a user. */
export type Erasure = { tenant: string; at: number } & ({ user: string } | { conversation: string });

export interface SessionTables {
  mcp_sessions: {
    id: string;
    /** The principal that opened it. */
    owner: string;
    version: string;
    /** JSON: the kinds of questions that its client supports. */
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
    /** Identifies the call, because clients reuse request ids. Null: an older release wrote the row. */
    idempotency_key: string | null;
    created_at: number;
  };
  mcp_replies: { session_id: string } & Columns<McpReply>;
  /** Of the pages; see ../tables/sessions.ts. */
  ended_sessions: {
    id_hash: string;
    expires_at: number;
  };
  /** What a process has counted for a limit; see ../counts.ts. */
  shared_counts: {
    /** The kind of the limit, and whose it is. */
    name: string;
    process: string;
    amount: number;
    /** It counts until then. */
    until: number;
  };
  learned_eras: { learned_at: number } & Columns<LearnedEra>;
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
  /** At most one row; see ../tables/installation.ts. */
  installation: {
    key: string;
    id: string;
    /** 0: Temporal's mark has not been written yet. */
    generation: number;
    /** Random for each generation, so that two databases that continue from one backup differ. Null in generation 0. */
    token: string | null;
    /** Of the next generation, once a process has begun to write it. */
    next_token: string | null;
    /** When the next generation is to be written. */
    due_at: number;
  };
  /** How far the deletion by age has come; see ../tables/retention.ts. */
  retention: {
    kind: TurnData;
    /** Turns that ended up to this time are done. */
    ended_until: number;
  };
  erasures: {
    id: string;
    tenant: string;
    /** One of these two is null. */
    user_id: string | null;
    conversation: string | null;
    at: number;
  };
}
