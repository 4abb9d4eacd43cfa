import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Where an answer was given. Of those that are there already, and of what an API of an older version takes, nobody knows. */
export async function addSurfacesOfAnswers(db: Kysely<unknown>): Promise<void> {
  await sql`alter table elicitation_answers add column surface text`.execute(db);
}
