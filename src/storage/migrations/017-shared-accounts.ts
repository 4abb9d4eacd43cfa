import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Who begins to connect an account, and who may connect a shared one. Whoever began one before may have been anybody. */
export async function addSharedAccounts(db: Kysely<unknown>): Promise<void> {
  await sql`delete from connect_attempts where user_id = ''`.execute(db);
  await sql`alter table connect_attempts add column actor text not null default ''`.execute(db);
  await sql`update connect_attempts set actor = user_id`.execute(db);
  await sql`create table account_permits (
    tenant text not null,
    server text not null,
    user_id text not null,
    expires_at bigint not null,
    primary key (tenant, server, user_id)
  )`.execute(db);
}
