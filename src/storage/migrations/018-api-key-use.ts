import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Who made a key, and when it was last used. */
export async function addApiKeyUse(db: Kysely<unknown>): Promise<void> {
  await sql`alter table api_keys add column created_by text`.execute(db);
  await sql`alter table api_keys add column last_used_at bigint`.execute(db);
}
