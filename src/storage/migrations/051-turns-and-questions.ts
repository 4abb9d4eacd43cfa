/** Tables of conversations, turns, what turns call, and questions, as of the initial migration. */
export const turnsAndQuestions = `
create table conversations (
  tenant text not null,
  conversation text not null,
  user_id text,
  agent text not null,
  last_seq bigint not null,
  last_position bigint not null,
  created_at bigint not null,
  updated_at bigint not null default 0,
  service text,
  primary key (tenant, conversation)
);
create index conversations_of_user on conversations (tenant, user_id, updated_at, conversation);

create table turns (
  turn_id text not null primary key,
  tenant text not null,
  conversation text not null,
  user_id text,
  agent text not null,
  capabilities text not null,
  status text not null,
  client_message_id text not null,
  staged text,
  created_at bigint not null,
  ended_at bigint,
  due_at bigint,
  ending_at bigint,
  build_id text,
  trace_parent text,
  service text,
  foreign key (tenant, conversation) references conversations (tenant, conversation)
);
create index turns_of_conversation on turns (tenant, conversation, created_at);
create index turns_due on turns (due_at) where due_at is not null;
create index turns_of_owner on turns (tenant, user_id, agent, coalesce(ended_at, created_at));
create index turns_open on turns (build_id) where ended_at is null;
create index turns_by_age on turns (created_at) where ended_at is null;
create unique index turns_live on turns (tenant, conversation) where status in ('starting', 'running');
create index turns_of_tenant on turns (tenant, created_at, turn_id);
create index turns_of_user on turns (tenant, user_id, created_at, turn_id);

create table turn_steps (
  turn_id text not null references turns (turn_id),
  key text not null,
  attempt bigint not null,
  finish text,
  input_tokens bigint,
  output_tokens bigint,
  primary key (turn_id, key)
);

create table turn_events (
  tenant text not null,
  conversation text not null,
  seq bigint not null,
  turn_id text not null references turns (turn_id),
  key text not null,
  event text not null,
  at bigint not null default 0,
  primary key (tenant, conversation, seq),
  unique (turn_id, key)
);

create table messages (
  tenant text not null,
  conversation text not null,
  id text not null,
  position bigint not null,
  turn_id text not null references turns (turn_id),
  role text not null,
  content text not null,
  created_at bigint not null,
  delegation text,
  left_out text,
  primary key (tenant, conversation, id),
  unique (tenant, conversation, position)
);
create index messages_of_turn on messages (turn_id);

create table images (
  turn_id text not null references turns (turn_id) on delete cascade,
  digest text not null,
  data text not null,
  primary key (turn_id, digest)
);

create table tool_calls (
  turn_id text not null references turns (turn_id),
  tool_call_id text not null,
  tool_name text not null,
  input text not null,
  state text not null,
  created_at bigint not null,
  delegation text,
  progress double precision,
  attempt bigint not null default 0,
  held_until bigint,
  has_asked integer not null default 0,
  code text,
  failures integer not null default 0,
  primary key (turn_id, tool_call_id)
);
create index tool_calls_code on tool_calls (code) where code is not null and state <> 'finished';

create table tool_call_rounds (
  turn_id text not null,
  tool_call_id text not null,
  round bigint not null,
  sealed text not null,
  created_at bigint not null,
  primary key (turn_id, tool_call_id, round),
  foreign key (turn_id, tool_call_id) references tool_calls (turn_id, tool_call_id)
);

create table tool_effects (
  workflow_id text not null,
  activity_id text not null,
  turn_id text not null,
  name text not null,
  state text not null,
  sealed text,
  created_at bigint not null,
  primary key (workflow_id, activity_id),
  foreign key (turn_id) references turns (turn_id)
);
create index tool_effects_turn on tool_effects (turn_id);

create table idempotency_keys (
  tenant text not null,
  user_id text not null,
  key text not null,
  fingerprint text not null,
  conversation text not null,
  client_message_id text not null,
  created_at bigint not null,
  primary key (tenant, user_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

create table installation (
  key text not null primary key,
  id text not null,
  generation integer not null,
  token text,
  next_token text,
  due_at bigint not null
);

create table workflow_code (
  id text primary key,
  kind text not null,
  needs integer not null,
  sealed text not null,
  created_at bigint not null,
  used_at bigint not null
);

create table deployed_versions (
  deployment text not null,
  build_id text not null,
  rank integer not null,
  since bigint not null,
  primary key (deployment, build_id)
);

create table processes (
  id text primary key,
  deployment text not null,
  kind text not null,
  oldest_contract integer not null,
  newest_contract integer not null,
  lease_until bigint not null
);

create table exposed_tools (
  name text primary key,
  agent text not null,
  description text not null
);

create table agent_exposed_tools (
  agent text not null,
  name text not null,
  description text not null,
  primary key (agent, name)
);

create table elicitations (
  id text not null primary key,
  tenant text not null,
  conversation text not null,
  turn_id text not null references turns (turn_id),
  agent text not null,
  user_id text not null,
  request text not null,
  server text,
  seen_version bigint,
  status text not null,
  response_id text,
  salt text not null,
  created_at bigint not null,
  deadline bigint not null,
  settled_at bigint,
  because text,
  look text,
  place text not null default '',
  consent text,
  is_reported integer not null default 0,
  is_unused integer not null default 0,
  trace_parent text
);
create index elicitations_of_conversation on elicitations (tenant, conversation, created_at);
create index elicitations_pending on elicitations (tenant, user_id, server) where status = 'pending';
create index elicitations_of_turn on elicitations (turn_id);
create index elicitations_of_look on elicitations (look) where look is not null;
create unique index elicitations_by_place on elicitations (place);
create index elicitations_of_tenant on elicitations (tenant, created_at, id);

create table question_waiters (
  elicitation_id text not null references elicitations (id),
  tool_call_id text not null,
  workflow_id text,
  primary key (elicitation_id, tool_call_id)
);

create table elicitation_answers (
  elicitation_id text not null references elicitations (id),
  response_id text not null,
  action text not null,
  sealed_content text,
  received_at bigint not null,
  surface text,
  primary key (elicitation_id, response_id)
);

create table looks (
  id text not null primary key,
  kind text not null,
  server text not null,
  subject text not null,
  due_at bigint not null,
  looks bigint not null
);
create index looks_due on looks (due_at);

create table outbox (
  id text not null primary key,
  kind text not null,
  workflow_id text,
  elicitation_id text,
  tenant text not null,
  conversation text not null,
  turn_id text not null,
  due_at bigint not null,
  is_leased integer not null,
  failures integer not null
);
create index outbox_due on outbox (due_at);

create table approvals (
  id text primary key,
  tenant text not null,
  user_id text not null,
  server text not null,
  place text not null,
  tool text not null,
  conversation text not null,
  created_at bigint not null,
  withdrawn_at bigint,
  definition text
);
create index approvals_of_user on approvals (tenant, user_id, server, tool);

create table audit (
  id text not null primary key,
  at bigint not null,
  tenant text not null,
  elicitation_id text not null,
  actor text,
  action text not null,
  detail text not null,
  address text,
  turn_id text
);
create index audit_of_elicitation on audit (elicitation_id, at);
create index audit_of_turn on audit (turn_id, at) where turn_id is not null;
`;
