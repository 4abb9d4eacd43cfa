import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Images in users' messages: what they are stands in the messages, their bytes stand here, and go with their turn. */
export async function createImages(db: Kysely<unknown>): Promise<void> {
  await sql`create table images (
    turn_id text not null references turns (turn_id) on delete cascade,
    digest text not null,
    data text not null,
    primary key (turn_id, digest)
  )`.execute(db);
}
