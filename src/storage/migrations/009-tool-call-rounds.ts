import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** What servers ask in the middle of a call, and why a question closed that nobody answered. */
export async function addRounds(db: Kysely<unknown>): Promise<void> {
  await sql`create table tool_call_rounds (
    turn_id text not null,
    tool_call_id text not null,
    round bigint not null,
    sealed text not null,
    created_at bigint not null,
    primary key (turn_id, tool_call_id, round),
    foreign key (turn_id, tool_call_id) references tool_calls (turn_id, tool_call_id)
  )`.execute(db);
  await sql`alter table elicitations add column because text`.execute(db);
}
