import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Which code an unfinished call is to run with, where no open workflow shows that. */
export async function addCodeOfCalls(db: Kysely<unknown>): Promise<void> {
  await sql`alter table tool_calls add column code text`.execute(db);
  await sql`create index tool_calls_code on tool_calls (code) where code is not null and state <> 'finished'`.execute(
    db,
  );
}
