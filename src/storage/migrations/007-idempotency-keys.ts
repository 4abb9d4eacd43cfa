import { sql } from 'kysely';
import type { Kysely } from 'kysely';

export async function createIdempotencyKeys(db: Kysely<unknown>): Promise<void> {
  await sql`create table idempotency_keys (
    tenant text not null,
    user_id text not null,
    key text not null,
    fingerprint text not null,
    conversation text not null,
    client_message_id text not null,
    created_at bigint not null,
    primary key (tenant, user_id, key)
  )`.execute(db);
  await sql`create index idempotency_keys_by_age on idempotency_keys (created_at)`.execute(db);
}
