import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** The code of tools in TypeScript, kept for the calls that began with it. */
export async function addToolBundles(db: Kysely<unknown>): Promise<void> {
  await sql`create table tool_bundles (
    hash text primary key,
    sealed text not null,
    created_at bigint not null,
    used_at bigint not null
  )`.execute(db);
}
