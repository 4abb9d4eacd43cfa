import { sql } from 'kysely';
import type { Kysely } from 'kysely';

export async function createConnections(db: Kysely<unknown>): Promise<void> {
  await sql`create table connections (
    tenant text not null,
    server text not null,
    user_id text not null,
    store text not null,
    version bigint not null,
    status text not null,
    broken_reason text,
    account text,
    scopes text not null,
    sealed text not null,
    fresh_until bigint,
    created_at bigint not null,
    updated_at bigint not null,
    primary key (tenant, server, user_id)
  )`.execute(db);
  // Used on SQLite; PostgreSQL has locks of its own.
  await sql`create table locks (
    name text not null primary key,
    owner text not null,
    expires_at bigint not null
  )`.execute(db);
  await sql`create table oauth_attempts (
    state_hash text not null primary key,
    elicitation_id text not null,
    session_hash text not null,
    sealed text not null,
    expires_at bigint not null
  )`.execute(db);
  await sql`create table oauth_records (
    key text not null primary key,
    sealed text not null,
    updated_at bigint not null
  )`.execute(db);
}
