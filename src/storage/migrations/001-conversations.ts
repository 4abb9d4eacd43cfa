import { sql } from 'kysely';
import type { Kysely } from 'kysely';

export async function createConversations(db: Kysely<unknown>): Promise<void> {
  await sql`create table conversations (
    tenant text not null,
    conversation text not null,
    user_id text,
    agent text not null,
    last_seq bigint not null,
    last_position bigint not null,
    created_at bigint not null,
    primary key (tenant, conversation)
  )`.execute(db);
  await sql`create table turns (
    turn_id text not null primary key,
    tenant text not null,
    conversation text not null,
    user_id text,
    agent text not null,
    capabilities text not null,
    status text not null,
    client_message_id text not null,
    staged text,
    created_at bigint not null,
    ended_at bigint,
    foreign key (tenant, conversation) references conversations (tenant, conversation)
  )`.execute(db);
  await sql`create index turns_of_conversation on turns (tenant, conversation, created_at)`.execute(db);
  await sql`create table turn_usage (
    turn_id text not null references turns (turn_id),
    key text not null,
    input_tokens bigint not null,
    output_tokens bigint not null,
    primary key (turn_id, key)
  )`.execute(db);
  await sql`create table turn_events (
    tenant text not null,
    conversation text not null,
    seq bigint not null,
    turn_id text not null references turns (turn_id),
    key text not null,
    event text not null,
    primary key (tenant, conversation, seq),
    unique (turn_id, key)
  )`.execute(db);
  await sql`create table messages (
    tenant text not null,
    conversation text not null,
    id text not null,
    position bigint not null,
    turn_id text not null references turns (turn_id),
    role text not null,
    content text not null,
    created_at bigint not null,
    primary key (tenant, conversation, id),
    unique (tenant, conversation, position)
  )`.execute(db);
  await sql`create table tool_calls (
    turn_id text not null references turns (turn_id),
    tool_call_id text not null,
    tool_name text not null,
    input text not null,
    state text not null,
    created_at bigint not null,
    primary key (turn_id, tool_call_id)
  )`.execute(db);
}
