/** Tables of accounts, credentials and keys, and of what is known of servers. See ../schema.ts. */
import type { ConnectionReason } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Columns } from '../columns.ts';

/** A tool as its server listed it (MCP `Tool`, JSON). */
export interface CatalogueTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: Record<string, unknown>;
  annotations?: { readOnlyHint?: boolean; idempotentHint?: boolean; destructiveHint?: boolean };
}

/** An account at a server. `user` is null for an account that the whole tenant shares (scope `project`). */
export interface ConnectionKey {
  tenant: string;
  server: string;
  user: string | null;
}

/** A server's tools, as listed for one user. */
export interface ToolList {
  tools: CatalogueTool[];
  /** `user`: the server does not want other users to see it. */
  audience: 'tenant' | 'user';
  /** How long the server considers it fresh, in milliseconds; null: unknown. */
  freshMs: number | null;
}

export interface ConnectionRow extends ConnectionKey {
  store: string;
  /** Counts successful connects, from 1. A question remembers the version that failed it. */
  version: number;
  status: 'active' | 'broken';
  brokenReason: ConnectionReason | null;
  /** The account's name for people ("alice@example.com"); null: unknown. */
  account: string | null;
  scopes: string[];
  createdAt: number;
  updatedAt: number;
  /** The store's secret material, sealed (see credentials/sealing/key-ring.ts), and when it stops being fresh. */
  sealed: string;
  freshUntil: number | null;
  /** Since when its store cannot tell whether it still works; null while it can. */
  troubledAt: number | null;
}

export interface AccountTables {
  connections: Columns<Omit<ConnectionRow, 'user' | 'status' | 'scopes'>> & {
    /** Empty for a credential of the whole tenant: a primary key cannot hold null. */
    user_id: string;
    /** A removed connection keeps its row, without its secret, so that versions never go back. */
    status: ConnectionRow['status'] | 'removed';
    /** JSON. */
    scopes: string;
  };
  connect_attempts: {
    /** Random, without meaning. */
    id: string;
    tenant: string;
    server: string;
    /** Empty for an account of the whole tenant. */
    user_id: string;
    /** Empty when no question asked for it. */
    elicitation_id: string;
    /** The user who began it. */
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
  locks: {
    name: string;
    owner: string;
    expires_at: number;
  };
  oauth_attempts: {
    /** SHA-256 of the state parameter. */
    state_hash: string;
    /** Empty when no question asked for it. */
    elicitation_id: string;
    /** SHA-256 of the browser session the attempt belongs to. */
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
    /** Empty for a list of no user in particular: a primary key cannot hold null. */
    user_id: string;
    tools: string;
    audience: ToolList['audience'];
    /** Null when the server did not say. */
    fresh_ms: number | null;
    updated_at: number;
  };
  api_keys: {
    id: string;
    tenant: string;
    /** The key's owner; keys of one service replace each other. Null: made before services had names. */
    service: string | null;
    hash: string;
    /** Who made it, as reported by their machine; null for older keys. */
    created_by: string | null;
    /** Within a minute. */
    last_used_at: number | null;
    created_at: number;
    revoked_at: number | null;
    acts_for_users: number;
    approves_for_users: number;
  };
}
