/** How far the deletion by age has come, and the list of what was erased on request. */
export const retention = `
create index turns_ended on turns (ended_at) where ended_at is not null;
create index audit_by_age on audit (at);
create index mcp_calls_of_turn on mcp_calls (turn_id);

create table retention (
  kind text not null primary key,
  ended_until bigint not null
);

create table erasures (
  id text not null primary key,
  tenant text not null,
  user_id text,
  conversation text,
  at bigint not null
);
`;
