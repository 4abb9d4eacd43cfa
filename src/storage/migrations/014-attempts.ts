import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Which attempt at a step or at a tool call counts. A step's usage is part of its row; of older ones nothing else is known. */
export async function addAttempts(db: Kysely<unknown>): Promise<void> {
  await sql`create table turn_steps (
    turn_id text not null references turns (turn_id),
    key text not null,
    attempt bigint not null,
    finish text,
    input_tokens bigint,
    output_tokens bigint,
    primary key (turn_id, key)
  )`.execute(db);
  await sql`insert into turn_steps (turn_id, key, attempt, input_tokens, output_tokens)
    select turn_id, key, 0, input_tokens, output_tokens from turn_usage`.execute(db);
  await sql`drop table turn_usage`.execute(db);
  await sql`alter table tool_calls add column attempt bigint not null default 0`.execute(db);
}
