import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** What delegated agents say and call, apart from the conversation's own transcript. */
export async function addDelegations(db: Kysely<unknown>): Promise<void> {
  await sql`alter table messages add column delegation text`.execute(db);
  await sql`alter table tool_calls add column delegation text`.execute(db);
}
