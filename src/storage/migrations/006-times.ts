import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** When an event was written, and when a conversation last changed. What is older than this step gets an estimate. */
export async function addTimes(db: Kysely<unknown>): Promise<void> {
  await sql`alter table turn_events add column at bigint not null default 0`.execute(db);
  await sql`update turn_events set at =
    (select created_at from turns where turns.turn_id = turn_events.turn_id)`.execute(db);
  await sql`alter table conversations add column updated_at bigint not null default 0`.execute(db);
  await sql`update conversations set updated_at = created_at`.execute(db);
  await sql`create index conversations_of_user on conversations (tenant, user_id, updated_at, conversation)`.execute(
    db,
  );
}
