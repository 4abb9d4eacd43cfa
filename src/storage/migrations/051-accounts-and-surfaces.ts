/** Tables of accounts, keys, and what protocols and Slack keep, as of the initial migration. */
export const accountsAndSurfaces = `
create table connections (
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
  troubled_at bigint,
  primary key (tenant, server, user_id)
);

create table connect_attempts (
  id text not null primary key,
  tenant text not null,
  server text not null,
  user_id text not null,
  elicitation_id text not null,
  created_at bigint not null,
  expires_at bigint not null,
  actor text not null default ''
);
create index connect_attempts_of_owner on connect_attempts (tenant, server, user_id);

create table account_permits (
  tenant text not null,
  server text not null,
  user_id text not null,
  expires_at bigint not null,
  primary key (tenant, server, user_id)
);

create table oauth_attempts (
  state_hash text not null primary key,
  elicitation_id text not null,
  session_hash text not null,
  sealed text not null,
  expires_at bigint not null
);

create table oauth_records (
  key text not null primary key,
  sealed text not null,
  updated_at bigint not null
);

create table locks (
  name text not null primary key,
  owner text not null,
  expires_at bigint not null
);

create table key_proofs (
  key_id text not null primary key,
  proof text not null,
  created_at bigint not null
);

create table api_keys (
  id text not null primary key,
  tenant text not null,
  hash text not null,
  created_at bigint not null,
  revoked_at bigint,
  created_by text,
  last_used_at bigint,
  acts_for_users bigint not null default 0,
  approves_for_users bigint not null default 0,
  service text
);

create table tool_catalogue (
  tenant text not null,
  server text not null,
  user_id text not null,
  tools text not null,
  audience text not null,
  fresh_ms bigint,
  updated_at bigint not null,
  constraint tools_of_users_pkey primary key (tenant, server, user_id)
);

create table mcp_sessions (
  id text primary key,
  owner text not null,
  version text not null,
  shows text not null,
  expires_at bigint not null
);
create index mcp_sessions_expiring on mcp_sessions (expires_at);
create index mcp_sessions_of_owner on mcp_sessions (owner, expires_at);

create table mcp_calls (
  session_id text not null references mcp_sessions (id) on delete cascade,
  request_id text not null,
  conversation text not null,
  turn_id text not null,
  tool text not null default '',
  progress_token text,
  created_at bigint not null default 0,
  idempotency_key text,
  primary key (session_id, request_id)
);

create table mcp_replies (
  session_id text not null references mcp_sessions (id) on delete cascade,
  elicitation_id text not null,
  kind text not null,
  reasons text,
  times bigint not null,
  primary key (session_id, elicitation_id)
);

create table ended_sessions (
  id_hash text not null primary key,
  expires_at bigint not null
);

create table learned_eras (
  server text not null,
  tool text not null,
  era text not null,
  identity text not null,
  learned_at bigint not null,
  primary key (server, tool)
);

create table push_configs (
  delivery_id text primary key,
  tenant text not null,
  turn_id text not null,
  conversation text not null,
  caller text not null,
  id text not null,
  wire text not null,
  structured bigint not null,
  position bigint not null,
  sealed text not null
);
create unique index push_configs_of_turn on push_configs (tenant, turn_id, caller, id);
create index push_configs_of_caller on push_configs (caller);

create table slack_installations (
  team text primary key,
  team_name text not null,
  tenant text not null,
  bot_user text not null,
  scopes text not null,
  installed_by text,
  sealed text not null
);

create table slack_events (
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
);
create index slack_events_due on slack_events (due_at);
create index slack_events_of_lane on slack_events (team, lane);
create index slack_events_received on slack_events (received_at);

create table slack_users (
  team text not null,
  slack_user text not null,
  tenant text not null,
  user_id text not null,
  linked_at bigint not null,
  primary key (team, slack_user)
);
create index slack_users_of_user on slack_users (tenant, user_id);

create table slack_tickets (
  digest text primary key,
  purpose text not null,
  team text not null,
  slack_user text not null,
  expires_at bigint not null
);
create index slack_tickets_of_user on slack_tickets (team, slack_user);

create table slack_threads (
  team text not null,
  channel text not null,
  thread_ts text not null,
  slack_user text not null,
  tenant text not null,
  conversation text not null,
  agent text not null,
  primary key (team, channel, thread_ts, slack_user)
);
create index slack_threads_of_conversation on slack_threads (tenant, conversation);

create table slack_channels (
  team text not null,
  channel text not null,
  agent text not null,
  primary key (team, channel)
);

create table slack_deliveries (
  turn_id text primary key,
  tenant text not null,
  conversation text not null,
  team text not null,
  channel text not null,
  thread_ts text not null,
  slack_user text not null,
  streams bigint not null,
  holder text not null,
  number bigint not null default 0,
  held_at bigint not null default 0,
  is_over bigint not null default 1
);
create index slack_deliveries_of_team on slack_deliveries (team);
create index slack_deliveries_of_conversation on slack_deliveries (tenant, conversation, number);

create table slack_messages (
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
);
create index slack_messages_of_team on slack_messages (team, channel, ts);
create index slack_messages_of_subject on slack_messages (subject);
`;
