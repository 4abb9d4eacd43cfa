import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Sessions of MCP clients up to 2025-11-25, the calls in them, and what clients said to questions that are still open. */
export async function createMcpSessions(db: Kysely<unknown>): Promise<void> {
  await sql`create table mcp_sessions (
    id text primary key,
    owner text not null,
    version text not null,
    shows text not null,
    expires_at bigint not null
  )`.execute(db);
  await sql`create index mcp_sessions_expiring on mcp_sessions (expires_at)`.execute(db);
  await sql`create table mcp_calls (
    session_id text not null references mcp_sessions (id) on delete cascade,
    request_id text not null,
    conversation text not null,
    turn_id text not null,
    primary key (session_id, request_id)
  )`.execute(db);
  await sql`create table mcp_replies (
    session_id text not null references mcp_sessions (id) on delete cascade,
    elicitation_id text not null,
    kind text not null,
    reasons text,
    times bigint not null,
    primary key (session_id, elicitation_id)
  )`.execute(db);
}
