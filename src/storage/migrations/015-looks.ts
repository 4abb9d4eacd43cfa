import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** What is looked at while questions are open, and when. Questions that are open already are not looked at. */
export async function addLooks(db: Kysely<unknown>): Promise<void> {
  await sql`create table looks (
    id text not null primary key,
    workflow_id text not null,
    kind text not null,
    server text not null,
    subject text not null,
    due_at bigint not null,
    looks bigint not null
  )`.execute(db);
  await sql`create index looks_due on looks (due_at)`.execute(db);
  await sql`alter table elicitations add column look text`.execute(db);
  await sql`create index elicitations_of_look on elicitations (look) where look is not null`.execute(db);
}
