import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Tools in TypeScript that clients may call without a model between, as the newest worker offers them. */
export async function createExposedTools(db: Kysely<unknown>): Promise<void> {
  await sql`create table exposed_tools (
    name text primary key,
    agent text not null,
    description text not null
  )`.execute(db);
  await sql`alter table mcp_calls add column tool text not null default ''`.execute(db);
}
