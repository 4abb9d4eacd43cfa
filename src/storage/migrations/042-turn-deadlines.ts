import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Finds the turns that take too long among those that have not ended. */
export async function indexTurnDeadlines(db: Kysely<unknown>): Promise<void> {
  await sql`create index turns_by_age on turns (created_at) where ended_at is null`.execute(db);
}
