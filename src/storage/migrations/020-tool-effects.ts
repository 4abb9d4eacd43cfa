import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** What activities of tools in TypeScript have done, so that none has its effect twice. */
export async function addToolEffects(db: Kysely<unknown>): Promise<void> {
  await sql`create table tool_effects (
    workflow_id text not null,
    activity_id text not null,
    turn_id text not null,
    name text not null,
    state text not null,
    sealed text,
    created_at bigint not null,
    primary key (workflow_id, activity_id),
    foreign key (turn_id) references turns (turn_id)
  )`.execute(db);
  await sql`create index tool_effects_turn on tool_effects (turn_id)`.execute(db);
}
