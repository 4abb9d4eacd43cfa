import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Until when the attempt at a call is known to be alive. */
export async function addHolds(db: Kysely<unknown>): Promise<void> {
  await sql`alter table tool_calls add column held_until bigint`.execute(db);
}
