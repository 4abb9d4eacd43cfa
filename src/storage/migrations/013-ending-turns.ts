import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Turns whose end is on its way: whoever works for one stops. */
export async function addEndingTurns(db: Kysely<unknown>): Promise<void> {
  await sql`alter table turns add column ending_at bigint`.execute(db);
}
