import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Which tools a user wants to be called without being asked each time. */
export async function createApprovals(db: Kysely<unknown>): Promise<void> {
  await sql`create table approvals (
    id text primary key,
    tenant text not null,
    user_id text not null,
    server text not null,
    place text not null,
    tool text not null,
    conversation text not null,
    created_at bigint not null,
    withdrawn_at bigint
  )`.execute(db);
  await sql`create index approvals_of_user on approvals (tenant, user_id, server, tool)`.execute(db);
}
