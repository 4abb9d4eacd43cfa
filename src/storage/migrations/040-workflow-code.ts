import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * The workflow code of every version with open workflows, which version new turns start with, and which processes are alive.
 * Code of tools was kept with Temporal's SDK before, which later versions of the SDK refuse; it is built again from its folder.
 */
export async function addWorkflowCode(db: Kysely<unknown>): Promise<void> {
  await sql`drop table tool_bundles`.execute(db);
  await sql`create table workflow_code (
    id text primary key,
    kind text not null,
    needs integer not null,
    sealed text not null,
    created_at bigint not null,
    used_at bigint not null
  )`.execute(db);
  await sql`create table deployed_versions (
    deployment text not null,
    build_id text not null,
    rank integer not null,
    since bigint not null,
    primary key (deployment, build_id)
  )`.execute(db);
  await sql`create table processes (
    id text primary key,
    deployment text not null,
    kind text not null,
    oldest_contract integer not null,
    newest_contract integer not null,
    lease_until bigint not null
  )`.execute(db);
  await sql`alter table turns add column build_id text`.execute(db);
  await sql`create index turns_open on turns (build_id) where ended_at is null`.execute(db);
}
