import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Which installation this database belongs to; Temporal keeps the same. One row at most: its key never differs. */
export async function createInstallation(db: Kysely<unknown>): Promise<void> {
  await sql`create table installation (
    key text not null primary key,
    id text not null,
    generation integer not null,
    token text,
    next_token text,
    due_at bigint not null
  )`.execute(db);
}
