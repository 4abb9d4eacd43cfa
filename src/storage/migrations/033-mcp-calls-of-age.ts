import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Calls in MCP sessions are forgotten after a day, and told of progress when they are come back for. */
export async function addCallTimes(db: Kysely<unknown>): Promise<void> {
  await sql`alter table mcp_calls add column progress_token text`.execute(db);
  await sql`alter table mcp_calls add column created_at bigint not null default 0`.execute(db);
  await sql`update mcp_calls set created_at = ${Date.now()}`.execute(db);
  await sql`create index mcp_sessions_of_owner on mcp_sessions (owner, expires_at)`.execute(db);
}
