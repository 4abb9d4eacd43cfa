import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Whether a key may name users to act for, and whether it may approve for them. */
export async function addKeyRights(db: Kysely<unknown>): Promise<void> {
  await sql`alter table api_keys add column acts_for_users bigint not null default 0`.execute(db);
  await sql`alter table api_keys add column approves_for_users bigint not null default 0`.execute(db);
}
