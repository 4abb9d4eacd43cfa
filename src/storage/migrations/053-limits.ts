/** What limits count: callers' counts of all processes, the live turns of a user, and turns that no worker has begun. */
export const limits = `
create table shared_counts (
  name text not null,
  process text not null,
  amount bigint not null,
  until bigint not null,
  primary key (name, process)
);
create index shared_counts_by_end on shared_counts (until);
create index turns_live_of_user on turns (tenant, user_id) where status in ('starting', 'running');
create index turns_starting on turns (created_at) where status = 'starting';
`;
