import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** How often a call has failed, which the attempts of its activity do not tell. */
export async function addFailuresOfCalls(db: Kysely<unknown>): Promise<void> {
  await sql`alter table tool_calls add column failures integer not null default 0`.execute(db);
}
