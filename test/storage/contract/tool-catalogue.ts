import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { openPostgres } from '../../../src/storage/postgres/open-postgres.ts';
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts';
import type { CatalogueTool, ToolList } from '../../../src/storage/ports/tool-catalogue.ts';
import type { DatabaseConfig, Subject } from '../contract.ts';
import { nextMillisecond } from './next-millisecond.ts';

const tool = (name: string): CatalogueTool => ({ name, inputSchema: { type: 'object' } });
const list = (name: string, more: Partial<ToolList> = {}): ToolList => ({
  tools: [tool(name)],
  audience: 'tenant',
  freshMs: null,
  ...more,
});

/** The database as it was before the step, with a list in it. */
async function backTo009(
  database: DatabaseConfig,
  row: { tenant: string; server: string; tools: string },
): Promise<void> {
  const logger = pino({ level: 'silent' });
  const { query, close } =
    database.kind === 'sqlite' ? await openSqlite(database.path) : openPostgres(database.url, logger);
  for (const table of [
    'installations',
    'events',
    'users',
    'tickets',
    'threads',
    'channels',
    'deliveries',
    'messages',
  ])
    await sql`drop table ${sql.table(`slack_${table}`)}`.execute(query);
  for (const table of ['question_waiters', 'outbox'])
    await sql`drop table ${sql.table(table)}`.execute(query);
  for (const index of ['elicitations_by_place', 'turns_live'])
    await sql`drop index ${sql.ref(index)}`.execute(query);
  for (const column of ['place', 'consent', 'is_reported', 'is_unused'])
    await sql`alter table elicitations drop column ${sql.ref(column)}`.execute(query);
  await sql`alter table elicitations add column workflow_id text`.execute(query);
  await sql`alter table tool_calls drop column has_asked`.execute(query);
  await sql`alter table elicitation_answers drop column surface`.execute(query);
  await sql`drop table installation`.execute(query);
  await sql`drop table images`.execute(query);
  await sql`drop table push_configs`.execute(query);
  await sql`drop index turns_by_age`.execute(query);
  await sql`drop index turns_of_owner`.execute(query);
  await sql`alter table api_keys drop column acts_for_users`.execute(query);
  await sql`alter table api_keys drop column approves_for_users`.execute(query);
  await sql`alter table api_keys drop column created_by`.execute(query);
  await sql`alter table api_keys drop column last_used_at`.execute(query);
  for (const table of ['agent_exposed_tools', 'exposed_tools'])
    await sql`drop table ${sql.table(table)}`.execute(query);
  await sql`drop table account_permits`.execute(query);
  for (const table of ['mcp_replies', 'mcp_calls', 'mcp_sessions'])
    await sql`drop table ${sql.table(table)}`.execute(query);
  await sql`drop table approvals`.execute(query);
  await sql`drop table tool_effects`.execute(query);
  for (const table of ['workflow_code', 'deployed_versions', 'processes'])
    await sql`drop table ${sql.table(table)}`.execute(query);
  await sql`drop index turns_open`.execute(query);
  await sql`alter table turns drop column build_id`.execute(query);
  await sql`drop table key_proofs`.execute(query);
  await sql`drop table looks`.execute(query);
  await sql`drop index elicitations_of_look`.execute(query);
  await sql`alter table elicitations drop column look`.execute(query);
  await sql`alter table tool_calls drop column attempt`.execute(query);
  await sql`alter table tool_calls drop column held_until`.execute(query);
  await sql`drop table turn_steps`.execute(query);
  await sql`create table turn_usage (
    turn_id text not null,
    key text not null,
    input_tokens bigint not null,
    output_tokens bigint not null,
    primary key (turn_id, key)
  )`.execute(query);
  await sql`alter table turns drop column ending_at`.execute(query);
  await sql`drop index turns_due`.execute(query);
  await sql`alter table turns drop column due_at`.execute(query);
  await sql`drop table connect_attempts`.execute(query);
  await sql`alter table connections drop column troubled_at`.execute(query);
  await sql`alter table tool_calls drop column progress`.execute(query);
  await sql`drop table tool_catalogue`.execute(query);
  await sql`create table tool_catalogue (
    tenant text not null,
    server text not null,
    tools text not null,
    updated_at bigint not null,
    primary key (tenant, server)
  )`.execute(query);
  await sql`insert into tool_catalogue values (${row.tenant}, ${row.server}, ${row.tools}, 7)`.execute(query);
  await sql`delete from kysely_migration where name >= '010'`.execute(query);
  await close();
}

export function toolCatalogueContract(subject: () => Subject): void {
  describe('tools of servers', () => {
    function newTenant() {
      const { storage, other } = subject();
      const tenant = randomUUID();
      const of = (user: string | null, server = 'tracker') => ({ tenant, server, user });
      return {
        of,
        put: (user: string | null, kept: ToolList) => storage.toolCatalogue.put(of(user), kept),
        get: (user: string | null) => other.toolCatalogue.get(of(user)),
      };
    }

    test('are kept per tenant, server and user, and the newest replaces what was there', async () => {
      const { of, put, get } = newTenant();
      const annotations = { readOnlyHint: true };
      await put('alice', list('old', { freshMs: 1 }));
      const kept = { tools: [{ ...tool('new'), annotations }], audience: 'user', freshMs: 5_000 } as const;
      await put('alice', { ...kept, tools: [...kept.tools] });
      expect(await get('alice')).toEqual({ ...kept, isOwn: true, updatedAt: expect.any(Number) });
      const { toolCatalogue } = subject().storage;
      expect(await toolCatalogue.get(of('alice', 'other'))).toBeNull();
      expect(await toolCatalogue.get({ ...of('alice'), tenant: randomUUID() })).toBeNull();
    });

    test('are for a user without a list the newest ones that everybody may see', async () => {
      const { put, get } = newTenant();
      await put('alice', list('of-alice'));
      await nextMillisecond(subject().storage);
      await put('bob', list('of-bob'));
      await nextMillisecond(subject().storage);
      await put('carol', list('of-carol', { audience: 'user' }));
      expect(await get('dave')).toMatchObject({ ...list('of-bob'), isOwn: false });
      expect(await get(null)).toMatchObject({ ...list('of-bob'), isOwn: false });
      expect(await get('alice')).toMatchObject({ ...list('of-alice'), isOwn: true });
      expect(await get('carol')).toMatchObject({ tools: [tool('of-carol')], isOwn: true });
    });

    test('that were kept before there were lists of users are nobody’s own, and shown to everybody', async () => {
      const database = await subject().fresh();
      await (await openStorage(database)).close();
      const tools = [tool('from-before')];
      await backTo009(database, { tenant: 'acme', server: 'tracker', tools: JSON.stringify(tools) });
      const storage = await openStorage(database);
      const key = { tenant: 'acme', server: 'tracker' };
      const kept = { tools, audience: 'tenant', freshMs: null, updatedAt: 7 };
      expect(await storage.toolCatalogue.get({ ...key, user: 'alice' })).toEqual({ ...kept, isOwn: false });
      expect(await storage.toolCatalogue.get({ ...key, user: null })).toEqual({ ...kept, isOwn: true });
      await storage.toolCatalogue.put({ ...key, user: 'alice' }, list('own'));
      expect(await storage.toolCatalogue.get({ ...key, user: 'alice' })).toMatchObject({ isOwn: true });
      await storage.close();
    });

    test('that are for one user only are nobody else’s', async () => {
      const { put, get } = newTenant();
      await put('alice', list('secret', { audience: 'user' }));
      expect(await get('bob')).toBeNull();
      expect(await get(null)).toBeNull();
    });
  });
}
