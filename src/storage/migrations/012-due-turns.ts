import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Turns that somebody has to look after. Those that have ended before this step are merged. */
export async function addDueTurns(db: Kysely<unknown>): Promise<void> {
  await sql`alter table turns add column due_at bigint`.execute(db);
  await sql`update turns set due_at = created_at where ended_at is null`.execute(db);
  await sql`create index turns_due on turns (due_at) where due_at is not null`.execute(db);
}
