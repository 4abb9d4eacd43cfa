import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** What of a message the model is no longer given. */
export async function addLeftOut(db: Kysely<unknown>): Promise<void> {
  await sql`alter table messages add column left_out text`.execute(db);
}
