import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * In which order the answers of a conversation go to Slack, and which are there. What there is already, and what an API of
 * an older version begins, waits for nothing and keeps nothing waiting.
 */
export async function orderSlackDeliveries(db: Kysely<unknown>): Promise<void> {
  await sql`alter table slack_deliveries add column number bigint not null default 0`.execute(db);
  await sql`alter table slack_deliveries add column held_at bigint not null default 0`.execute(db);
  await sql`alter table slack_deliveries add column is_over bigint not null default 1`.execute(db);
  await sql`create index slack_deliveries_of_conversation on slack_deliveries (tenant, conversation, number)`.execute(
    db,
  );
}
