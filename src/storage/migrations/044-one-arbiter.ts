import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * A question's row decides: what waits for it, what still has to be notified, and one live turn per conversation. Of
 * several live turns of one conversation the newest goes on; the others are cancelled.
 */
export async function addArbiter(db: Kysely<unknown>): Promise<void> {
  await sql`alter table elicitations drop column workflow_id`.execute(db);
  await sql`alter table elicitations add column place text not null default ''`.execute(db);
  await sql`update elicitations set place = id`.execute(db);
  await sql`create unique index elicitations_by_place on elicitations (place)`.execute(db);
  await sql`alter table elicitations add column consent text`.execute(db);
  await sql`alter table elicitations add column is_reported integer not null default 0`.execute(db);
  await sql`alter table elicitations add column is_unused integer not null default 0`.execute(db);
  await sql`create table question_waiters (
    elicitation_id text not null references elicitations (id),
    tool_call_id text not null,
    workflow_id text,
    primary key (elicitation_id, tool_call_id)
  )`.execute(db);
  await sql`alter table tool_calls add column has_asked integer not null default 0`.execute(db);

  await sql`create table outbox (
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
  )`.execute(db);
  await sql`create index outbox_due on outbox (due_at)`.execute(db);

  await sql`alter table looks drop column workflow_id`.execute(db);

  await sql`update turns set status = 'cancelled', ended_at = created_at, staged = null
    where status in ('starting', 'running') and exists (
      select 1 from turns as newer
      where newer.tenant = turns.tenant and newer.conversation = turns.conversation
        and newer.status in ('starting', 'running')
        and (newer.created_at > turns.created_at
          or (newer.created_at = turns.created_at and newer.turn_id > turns.turn_id))
    )`.execute(db);
  await sql`update elicitations set status = 'cancel', settled_at = created_at
    where status = 'pending' and turn_id in (select turn_id from turns where ended_at is not null)`.execute(
    db,
  );
  await sql`create unique index turns_live on turns (tenant, conversation)
    where status in ('starting', 'running')`.execute(db);
}
