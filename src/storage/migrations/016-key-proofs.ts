import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Which keys have sealed what there is. Written by the first process that starts, after it has tried its keys. */
export async function createKeyProofs(db: Kysely<unknown>): Promise<void> {
  await sql`create table key_proofs (
    key_id text not null primary key,
    proof text not null,
    created_at bigint not null
  )`.execute(db);
}
