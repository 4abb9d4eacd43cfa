import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Answers on their way to Slack: where each goes, and what is known of its messages there. */
export async function createSlackDeliveries(db: Kysely<unknown>): Promise<void> {
  await sql`create table slack_deliveries (
    turn_id text primary key,
    tenant text not null,
    conversation text not null,
    team text not null,
    channel text not null,
    thread_ts text not null,
    slack_user text not null,
    streams bigint not null,
    holder text not null
  )`.execute(db);
  await sql`create index slack_deliveries_of_team on slack_deliveries (team)`.execute(db);
  await sql`create table slack_messages (
    turn_id text not null,
    number bigint not null,
    team text not null,
    channel text not null,
    ts text,
    kind text not null,
    subject text not null,
    begins bigint not null,
    ends bigint not null,
    digest text not null,
    is_sure bigint not null,
    is_open bigint not null,
    is_stream bigint not null,
    started_at bigint not null,
    primary key (turn_id, number)
  )`.execute(db);
  await sql`create index slack_messages_of_team on slack_messages (team, channel, ts)`.execute(db);
  await sql`create index slack_messages_of_subject on slack_messages (subject)`.execute(db);
}
