import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Deleting a turn makes the database look for whatever refers to it; without these it reads whole tables. */
export async function indexTurnReferences(db: Kysely<unknown>): Promise<void> {
  await sql`create index messages_of_turn on messages (turn_id)`.execute(db);
  await sql`create index elicitations_of_turn on elicitations (turn_id)`.execute(db);
}
