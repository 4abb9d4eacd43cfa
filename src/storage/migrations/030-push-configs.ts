import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Where callers want to be told of their turns, and from where in the log on. */
export async function createPushConfigs(db: Kysely<unknown>): Promise<void> {
  await sql`create table push_configs (
    delivery_id text primary key,
    tenant text not null,
    turn_id text not null,
    conversation text not null,
    caller text not null,
    id text not null,
    wire text not null,
    structured bigint not null,
    position bigint not null,
    sealed text not null
  )`.execute(db);
  await sql`create unique index push_configs_of_turn on push_configs (tenant, turn_id, caller, id)`.execute(
    db,
  );
}
