import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** The trace of a turn, as W3C's `traceparent` of its first span, with the turn and with its questions. */
export async function addTraces(db: Kysely<unknown>): Promise<void> {
  await sql`alter table turns add column trace_parent text`.execute(db);
  await sql`alter table elicitations add column trace_parent text`.execute(db);
}
