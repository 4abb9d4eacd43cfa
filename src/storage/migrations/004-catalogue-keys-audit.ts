import { sql } from 'kysely';
import type { Kysely } from 'kysely';

export async function createCatalogueKeysAudit(db: Kysely<unknown>): Promise<void> {
  await sql`create table tool_catalogue (
    tenant text not null,
    server text not null,
    tools text not null,
    updated_at bigint not null,
    primary key (tenant, server)
  )`.execute(db);
  await sql`create table api_keys (
    id text not null primary key,
    tenant text not null,
    hash text not null,
    created_at bigint not null,
    revoked_at bigint
  )`.execute(db);
  await sql`create table audit (
    id text not null primary key,
    at bigint not null,
    tenant text not null,
    elicitation_id text not null,
    actor text,
    action text not null,
    detail text not null,
    address text
  )`.execute(db);
  await sql`create index audit_of_elicitation on audit (elicitation_id, at)`.execute(db);
}
