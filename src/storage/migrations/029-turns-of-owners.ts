import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** An owner's turns are listed, last changed first. */
export async function indexTurnsOfOwners(db: Kysely<unknown>): Promise<void> {
  await sql`create index turns_of_owner on turns (tenant, user_id, agent, coalesce(ended_at, created_at))`.execute(
    db,
  );
}
