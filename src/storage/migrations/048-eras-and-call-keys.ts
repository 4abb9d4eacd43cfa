import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** In which protocol era MCP servers can ask, as calls have shown; and what identifies a call of a client, beside its id. */
export async function addLearnedErasAndCallKeys(db: Kysely<unknown>): Promise<void> {
  await sql`create table learned_eras (
    server text not null,
    tool text not null,
    era text not null,
    identity text not null,
    learned_at bigint not null,
    primary key (server, tool)
  )`.execute(db);
  await sql`alter table mcp_calls add column idempotency_key text`.execute(db);
}
