import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** What operators list, newest first, and what they did to turns. */
export async function indexForOperators(db: Kysely<unknown>): Promise<void> {
  await sql`create index turns_of_tenant on turns (tenant, created_at, turn_id)`.execute(db);
  await sql`create index turns_of_user on turns (tenant, user_id, created_at, turn_id)`.execute(db);
  await sql`create index elicitations_of_tenant on elicitations (tenant, created_at, id)`.execute(db);
  await sql`alter table audit add column turn_id text`.execute(db);
  await sql`create index audit_of_turn on audit (turn_id, at) where turn_id is not null`.execute(db);
}
