import { sql } from 'kysely';
import type { Kysely } from 'kysely';

export async function createElicitations(db: Kysely<unknown>): Promise<void> {
  await sql`create table elicitations (
    id text not null primary key,
    tenant text not null,
    conversation text not null,
    turn_id text not null references turns (turn_id),
    workflow_id text not null,
    agent text not null,
    user_id text not null,
    request text not null,
    server text,
    seen_version bigint,
    status text not null,
    response_id text,
    salt text not null,
    created_at bigint not null,
    deadline bigint not null,
    settled_at bigint
  )`.execute(db);
  await sql`create index elicitations_of_conversation on elicitations (tenant, conversation, created_at)`.execute(
    db,
  );
  await sql`create index elicitations_pending on elicitations (tenant, user_id, server) where status = 'pending'`.execute(
    db,
  );
  await sql`create table elicitation_answers (
    elicitation_id text not null references elicitations (id),
    response_id text not null,
    action text not null,
    sealed_content text,
    received_at bigint not null,
    primary key (elicitation_id, response_id)
  )`.execute(db);
}
