import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Who owns what API keys begin, sign-outs that outlive the cookie, and what a remembered approval was given for. */
export async function addServicesAndSessions(db: Kysely<unknown>): Promise<void> {
  await sql`alter table api_keys add column service text`.execute(db);
  await sql`alter table conversations add column service text`.execute(db);
  await sql`alter table turns add column service text`.execute(db);
  await sql`create table ended_sessions (
    id_hash text not null primary key,
    expires_at bigint not null
  )`.execute(db);
  await sql`alter table approvals add column definition text`.execute(db);
  await sql`create index push_configs_of_caller on push_configs (caller)`.execute(db);
}
