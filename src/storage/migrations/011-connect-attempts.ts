import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** People on their way to accounts that are kept elsewhere, and since when such an account makes trouble. */
export async function addConnectAttempts(db: Kysely<unknown>): Promise<void> {
  await sql`create table connect_attempts (
    id text not null primary key,
    tenant text not null,
    server text not null,
    user_id text not null,
    elicitation_id text not null,
    created_at bigint not null,
    expires_at bigint not null
  )`.execute(db);
  await sql`create index connect_attempts_of_owner on connect_attempts (tenant, server, user_id)`.execute(db);
  await sql`alter table connections add column troubled_at bigint`.execute(db);
}
