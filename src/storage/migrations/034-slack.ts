import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/** Workspaces of Slack, what they sent, who their people are here, and where they talk. */
export async function createSlack(db: Kysely<unknown>): Promise<void> {
  await sql`create table slack_installations (
    team text primary key,
    team_name text not null,
    tenant text not null,
    bot_user text not null,
    scopes text not null,
    installed_by text,
    sealed text not null
  )`.execute(db);
  await sql`create table slack_events (
    team text not null,
    event_id text not null,
    slack_user text not null,
    lane text not null,
    ts text not null,
    sealed text not null,
    is_parked bigint not null,
    due_at bigint,
    tries bigint not null,
    received_at bigint not null,
    primary key (team, event_id)
  )`.execute(db);
  await sql`create index slack_events_due on slack_events (due_at)`.execute(db);
  await sql`create index slack_events_of_lane on slack_events (team, lane)`.execute(db);
  await sql`create index slack_events_received on slack_events (received_at)`.execute(db);
  await sql`create table slack_users (
    team text not null,
    slack_user text not null,
    tenant text not null,
    user_id text not null,
    linked_at bigint not null,
    primary key (team, slack_user)
  )`.execute(db);
  await sql`create index slack_users_of_user on slack_users (tenant, user_id)`.execute(db);
  await sql`create table slack_tickets (
    digest text primary key,
    purpose text not null,
    team text not null,
    slack_user text not null,
    expires_at bigint not null
  )`.execute(db);
  await sql`create index slack_tickets_of_user on slack_tickets (team, slack_user)`.execute(db);
  await sql`create table slack_threads (
    team text not null,
    channel text not null,
    thread_ts text not null,
    slack_user text not null,
    tenant text not null,
    conversation text not null,
    agent text not null,
    primary key (team, channel, thread_ts, slack_user)
  )`.execute(db);
  await sql`create index slack_threads_of_conversation on slack_threads (tenant, conversation)`.execute(db);
  await sql`create table slack_channels (
    team text not null,
    channel text not null,
    agent text not null,
    primary key (team, channel)
  )`.execute(db);
}
