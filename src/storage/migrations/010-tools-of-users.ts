import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** What a server lists can differ by user. What is older than this step is nobody's own, and shown to everybody. */
export async function addUsersToCatalogue(db: Kysely<unknown>): Promise<void> {
  await sql`create table tools_of_users (
    tenant text not null,
    server text not null,
    user_id text not null,
    tools text not null,
    audience text not null,
    fresh_ms bigint,
    updated_at bigint not null,
    primary key (tenant, server, user_id)
  )`.execute(db);
  await sql`insert into tools_of_users (tenant, server, user_id, tools, audience, updated_at)
    select tenant, server, '', tools, 'tenant', updated_at from tool_catalogue`.execute(db);
  await sql`drop table tool_catalogue`.execute(db);
  await sql`alter table tools_of_users rename to tool_catalogue`.execute(db);
  await sql`alter table tool_calls add column progress double precision`.execute(db);
}
