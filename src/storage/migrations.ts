/**
 * The schema, as a list of steps that only goes forward. A step that has been released is never edited.
 *
 * Any number of processes may start at once: one migrates, the others wait for it. On PostgreSQL the migrator
 * holds an advisory lock; on SQLite everything happens in one immediate transaction.
 */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import type { Migration } from 'kysely/migration';
import type { Database, Tables } from './tables.ts';

export async function migrate({ kind, query }: Pick<Database, 'kind' | 'query'>): Promise<void> {
  const run = async (db: Kysely<Tables>) => {
    const provider = { getMigrations: () => Promise.resolve(migrations) };
    const { error } = await new Migrator({ db, provider }).migrateToLatest();
    if (error) throw error instanceof Error ? error : new Error('the migration failed', { cause: error });
  };
  await (kind === 'sqlite' ? query.transaction().execute(run) : run(query));
}

const migrations: Record<string, Migration> = {
  '001-conversations': { up: createConversations },
  '002-elicitations': { up: createElicitations },
  '003-connections': { up: createConnections },
  '004-catalogue-keys-audit': { up: createCatalogueKeysAudit },
  '005-turn-references': { up: indexTurnReferences },
  '006-times': { up: addTimes },
  '007-idempotency-keys': { up: createIdempotencyKeys },
  '008-delegated-messages': { up: addDelegations },
  '009-tool-call-rounds': { up: addRounds },
  '010-tools-of-users': { up: addUsersToCatalogue },
  '011-connect-attempts': { up: addConnectAttempts },
  '012-due-turns': { up: addDueTurns },
  '013-ending-turns': { up: addEndingTurns },
  '014-attempts': { up: addAttempts },
  '015-looks': { up: addLooks },
  '016-key-proofs': { up: createKeyProofs },
  '017-shared-accounts': { up: addSharedAccounts },
  '018-api-key-use': { up: addApiKeyUse },
};

async function createConversations(db: Kysely<unknown>): Promise<void> {
  await sql`create table conversations (
    tenant text not null,
    conversation text not null,
    user_id text,
    agent text not null,
    last_seq bigint not null,
    last_position bigint not null,
    created_at bigint not null,
    primary key (tenant, conversation)
  )`.execute(db);
  await sql`create table turns (
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
    foreign key (tenant, conversation) references conversations (tenant, conversation)
  )`.execute(db);
  await sql`create index turns_of_conversation on turns (tenant, conversation, created_at)`.execute(db);
  await sql`create table turn_usage (
    turn_id text not null references turns (turn_id),
    key text not null,
    input_tokens bigint not null,
    output_tokens bigint not null,
    primary key (turn_id, key)
  )`.execute(db);
  await sql`create table turn_events (
    tenant text not null,
    conversation text not null,
    seq bigint not null,
    turn_id text not null references turns (turn_id),
    key text not null,
    event text not null,
    primary key (tenant, conversation, seq),
    unique (turn_id, key)
  )`.execute(db);
  await sql`create table messages (
    tenant text not null,
    conversation text not null,
    id text not null,
    position bigint not null,
    turn_id text not null references turns (turn_id),
    role text not null,
    content text not null,
    created_at bigint not null,
    primary key (tenant, conversation, id),
    unique (tenant, conversation, position)
  )`.execute(db);
  await sql`create table tool_calls (
    turn_id text not null references turns (turn_id),
    tool_call_id text not null,
    tool_name text not null,
    input text not null,
    state text not null,
    created_at bigint not null,
    primary key (turn_id, tool_call_id)
  )`.execute(db);
}

async function createElicitations(db: Kysely<unknown>): Promise<void> {
  await sql`create table elicitations (
    id text not null primary key,
    tenant text not null,
    conversation text not null,
    turn_id text not null references turns (turn_id),
    workflow_id text not null,
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
    settled_at bigint
  )`.execute(db);
  await sql`create index elicitations_of_conversation on elicitations (tenant, conversation, created_at)`.execute(
    db,
  );
  await sql`create index elicitations_pending on elicitations (tenant, user_id, server) where status = 'pending'`.execute(
    db,
  );
  await sql`create table elicitation_answers (
    elicitation_id text not null references elicitations (id),
    response_id text not null,
    action text not null,
    sealed_content text,
    received_at bigint not null,
    primary key (elicitation_id, response_id)
  )`.execute(db);
}

async function createConnections(db: Kysely<unknown>): Promise<void> {
  await sql`create table connections (
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
    primary key (tenant, server, user_id)
  )`.execute(db);
  // Used on SQLite; PostgreSQL has locks of its own.
  await sql`create table locks (
    name text not null primary key,
    owner text not null,
    expires_at bigint not null
  )`.execute(db);
  await sql`create table oauth_attempts (
    state_hash text not null primary key,
    elicitation_id text not null,
    session_hash text not null,
    sealed text not null,
    expires_at bigint not null
  )`.execute(db);
  await sql`create table oauth_records (
    key text not null primary key,
    sealed text not null,
    updated_at bigint not null
  )`.execute(db);
}

async function createCatalogueKeysAudit(db: Kysely<unknown>): Promise<void> {
  await sql`create table tool_catalogue (
    tenant text not null,
    server text not null,
    tools text not null,
    updated_at bigint not null,
    primary key (tenant, server)
  )`.execute(db);
  await sql`create table api_keys (
    id text not null primary key,
    tenant text not null,
    hash text not null,
    created_at bigint not null,
    revoked_at bigint
  )`.execute(db);
  await sql`create table audit (
    id text not null primary key,
    at bigint not null,
    tenant text not null,
    elicitation_id text not null,
    actor text,
    action text not null,
    detail text not null,
    address text
  )`.execute(db);
  await sql`create index audit_of_elicitation on audit (elicitation_id, at)`.execute(db);
}

/** Deleting a turn makes the database look for whatever refers to it; without these it reads whole tables. */
async function indexTurnReferences(db: Kysely<unknown>): Promise<void> {
  await sql`create index messages_of_turn on messages (turn_id)`.execute(db);
  await sql`create index elicitations_of_turn on elicitations (turn_id)`.execute(db);
}

/** When an event was written, and when a conversation last changed. What is older than this step gets an estimate. */
async function addTimes(db: Kysely<unknown>): Promise<void> {
  await sql`alter table turn_events add column at bigint not null default 0`.execute(db);
  await sql`update turn_events set at =
    (select created_at from turns where turns.turn_id = turn_events.turn_id)`.execute(db);
  await sql`alter table conversations add column updated_at bigint not null default 0`.execute(db);
  await sql`update conversations set updated_at = created_at`.execute(db);
  await sql`create index conversations_of_user on conversations (tenant, user_id, updated_at, conversation)`.execute(
    db,
  );
}

async function createIdempotencyKeys(db: Kysely<unknown>): Promise<void> {
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

/** What delegated agents say and call, apart from the conversation's own transcript. */
async function addDelegations(db: Kysely<unknown>): Promise<void> {
  await sql`alter table messages add column delegation text`.execute(db);
  await sql`alter table tool_calls add column delegation text`.execute(db);
}

/** What servers ask in the middle of a call, and why a question closed that nobody answered. */
async function addRounds(db: Kysely<unknown>): Promise<void> {
  await sql`create table tool_call_rounds (
    turn_id text not null,
    tool_call_id text not null,
    round bigint not null,
    sealed text not null,
    created_at bigint not null,
    primary key (turn_id, tool_call_id, round),
    foreign key (turn_id, tool_call_id) references tool_calls (turn_id, tool_call_id)
  )`.execute(db);
  await sql`alter table elicitations add column because text`.execute(db);
}

/** What a server lists can differ by user. What is older than this step is nobody's own, and shown to everybody. */
async function addUsersToCatalogue(db: Kysely<unknown>): Promise<void> {
  await sql`create table tools_of_users (
    tenant text not null,
    server text not null,
    user_id text not null,
    tools text not null,
    audience text not null,
    fresh_ms bigint,
    updated_at bigint not null,
    primary key (tenant, server, user_id)
  )`.execute(db);
  await sql`insert into tools_of_users (tenant, server, user_id, tools, audience, updated_at)
    select tenant, server, '', tools, 'tenant', updated_at from tool_catalogue`.execute(db);
  await sql`drop table tool_catalogue`.execute(db);
  await sql`alter table tools_of_users rename to tool_catalogue`.execute(db);
  await sql`alter table tool_calls add column progress double precision`.execute(db);
}

/** People on their way to accounts that are kept elsewhere, and since when such an account makes trouble. */
async function addConnectAttempts(db: Kysely<unknown>): Promise<void> {
  await sql`create table connect_attempts (
    id text not null primary key,
    tenant text not null,
    server text not null,
    user_id text not null,
    elicitation_id text not null,
    created_at bigint not null,
    expires_at bigint not null
  )`.execute(db);
  await sql`create index connect_attempts_of_owner on connect_attempts (tenant, server, user_id)`.execute(db);
  await sql`alter table connections add column troubled_at bigint`.execute(db);
}

/** Turns that somebody has to look after. Those that have ended before this step are merged. */
async function addDueTurns(db: Kysely<unknown>): Promise<void> {
  await sql`alter table turns add column due_at bigint`.execute(db);
  await sql`update turns set due_at = created_at where ended_at is null`.execute(db);
  await sql`create index turns_due on turns (due_at) where due_at is not null`.execute(db);
}

/** Turns whose end is on its way: whoever works for one stops. */
async function addEndingTurns(db: Kysely<unknown>): Promise<void> {
  await sql`alter table turns add column ending_at bigint`.execute(db);
}

/** Which attempt at a step or at a tool call counts. A step's usage is part of its row; of older ones nothing else is known. */
async function addAttempts(db: Kysely<unknown>): Promise<void> {
  await sql`create table turn_steps (
    turn_id text not null references turns (turn_id),
    key text not null,
    attempt bigint not null,
    finish text,
    input_tokens bigint,
    output_tokens bigint,
    primary key (turn_id, key)
  )`.execute(db);
  await sql`insert into turn_steps (turn_id, key, attempt, input_tokens, output_tokens)
    select turn_id, key, 0, input_tokens, output_tokens from turn_usage`.execute(db);
  await sql`drop table turn_usage`.execute(db);
  await sql`alter table tool_calls add column attempt bigint not null default 0`.execute(db);
}

/** What is looked at while questions are open, and when. Questions that are open already are not looked at. */
async function addLooks(db: Kysely<unknown>): Promise<void> {
  await sql`create table looks (
    id text not null primary key,
    workflow_id text not null,
    kind text not null,
    server text not null,
    subject text not null,
    due_at bigint not null,
    looks bigint not null
  )`.execute(db);
  await sql`create index looks_due on looks (due_at)`.execute(db);
  await sql`alter table elicitations add column look text`.execute(db);
  await sql`create index elicitations_of_look on elicitations (look) where look is not null`.execute(db);
}

/** Which keys have sealed what there is. Written by the first process that starts, after it has tried its keys. */
async function createKeyProofs(db: Kysely<unknown>): Promise<void> {
  await sql`create table key_proofs (
    key_id text not null primary key,
    proof text not null,
    created_at bigint not null
  )`.execute(db);
}

/** Who begins to connect an account, and who may connect a shared one. Whoever began one before may have been anybody. */
async function addSharedAccounts(db: Kysely<unknown>): Promise<void> {
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

/** Who made a key, and when it was last used. */
async function addApiKeyUse(db: Kysely<unknown>): Promise<void> {
  await sql`alter table api_keys add column created_by text`.execute(db);
  await sql`alter table api_keys add column last_used_at bigint`.execute(db);
}
