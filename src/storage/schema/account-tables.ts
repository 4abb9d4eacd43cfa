/** Tables of accounts, credentials and keys, and of what is known of servers. See ../schema.ts. */
import type { ConnectionReason } from '../../elicitation/elicitation.ts';
import type { ConnectionRow } from '../ports/connections.ts';
import type { ToolList } from '../ports/tool-catalogue.ts';

export interface AccountTables {
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
    service: string | null;
    hash: string;
    created_by: string | null;
    last_used_at: number | null;
    created_at: number;
    revoked_at: number | null;
    acts_for_users: number;
    approves_for_users: number;
  };
}
