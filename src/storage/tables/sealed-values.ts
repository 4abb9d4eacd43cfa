/**
 * Everything that is sealed, wherever it is, for whoever brings it to another key. The tables are gone through in the
 * order of their primary keys, so that a pass sees each row once however many are written meanwhile.
 */
import { sql } from 'kysely';
import type { Kysely, UpdateResult } from 'kysely';
import { isConnection } from './connections.ts';
import type { SealedTable, SealedValue, SealedValues } from '../ports/sealed-values.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';

type Page = Parameters<SealedValues['page']>[1];

const tables = [
  'connections',
  'oauth_records',
  'oauth_attempts',
  'elicitation_answers',
  'tool_call_rounds',
  'tool_bundles',
  'tool_effects',
  'push_configs',
  'slack_installations',
  'slack_events',
] as const satisfies SealedTable[];

export function createSealedValues({ query, now }: Database): SealedValues {
  return {
    tables,
    page: (table, page) => pages[table](query, page, now()),
    async count(table, prefix) {
      const column = table === 'elicitation_answers' ? 'sealed_content' : 'sealed';
      // Removed connections keep an empty value, answers without content none.
      const isUsed = table === 'oauth_attempts' ? sql`expires_at > ${now()}` : sql`${sql.ref(column)} != ''`;
      const { rows } = await sql<{ all: number; with_prefix: number }>`
        select count(*) as "all", count(case when ${begins(column, prefix)} then 1 end) as with_prefix
        from ${sql.table(table)} where ${isUsed}`.execute(query);
      const [counted = { all: 0, with_prefix: 0 }] = rows;
      return { all: counted.all, withPrefix: counted.with_prefix };
    },
    replace: (changes) =>
      query.transaction().execute(async (write) => {
        const replaced: boolean[] = [];
        for (const { value, sealed } of changes)
          replaced.push((await update(write, value, sealed)).numUpdatedRows > 0n);
        return replaced;
      }),
  };
}

const pages: {
  [Table in SealedTable]: (query: Kysely<Tables>, page: Page, now: number) => Promise<SealedValue[]>;
} = {
  async connections(query, { except, after, limit }) {
    const { tenant = '', server = '', user = null } = after?.table === 'connections' ? after.key : {};
    const rows = await query
      .selectFrom('connections')
      .select(['tenant', 'server', 'user_id', 'store', 'sealed'])
      .where('sealed', '!=', '')
      .where(beginsWithNone('sealed', except))
      .where(sql<boolean>`(tenant, server, user_id) > (${tenant}, ${server}, ${user ?? ''})`)
      .orderBy('tenant')
      .orderBy('server')
      .orderBy('user_id')
      .limit(limit)
      .execute();
    return rows.map(({ tenant, server, user_id: user, store, sealed }) => ({
      table: 'connections',
      key: { tenant, server, user: user === '' ? null : user },
      store,
      sealed,
    }));
  },

  async oauth_records(query, { except, after, limit }) {
    const rows = await query
      .selectFrom('oauth_records')
      .select(['key', 'sealed'])
      .where(beginsWithNone('sealed', except))
      .where('key', '>', after?.table === 'oauth_records' ? after.key : '')
      .orderBy('key')
      .limit(limit)
      .execute();
    return rows.map((row) => ({ table: 'oauth_records', ...row }));
  },

  async oauth_attempts(query, { except, after, limit }, now) {
    const rows = await query
      .selectFrom('oauth_attempts')
      .select(['state_hash as stateHash', 'sealed'])
      .where('expires_at', '>', now)
      .where(beginsWithNone('sealed', except))
      .where('state_hash', '>', after?.table === 'oauth_attempts' ? after.stateHash : '')
      .orderBy('state_hash')
      .limit(limit)
      .execute();
    return rows.map((row) => ({ table: 'oauth_attempts', ...row }));
  },

  async elicitation_answers(query, { except, after, limit }) {
    const { elicitationId = '', responseId = '' } = after?.table === 'elicitation_answers' ? after : {};
    const rows = await query
      .selectFrom('elicitation_answers')
      .select(['elicitation_id as elicitationId', 'response_id as responseId'])
      .select(({ ref }) => ref('sealed_content').$notNull().as('sealed'))
      .where('sealed_content', 'is not', null)
      .where(beginsWithNone('sealed_content', except))
      .where(sql<boolean>`(elicitation_id, response_id) > (${elicitationId}, ${responseId})`)
      .orderBy('elicitation_id')
      .orderBy('response_id')
      .limit(limit)
      .execute();
    return rows.map((row) => ({ table: 'elicitation_answers', ...row }));
  },

  async tool_call_rounds(query, { except, after, limit }) {
    const { turnId = '', toolCallId = '', round = 0 } = after?.table === 'tool_call_rounds' ? after : {};
    const rows = await query
      .selectFrom('tool_call_rounds')
      .select(['turn_id as turnId', 'tool_call_id as toolCallId', 'round', 'sealed'])
      .where(beginsWithNone('sealed', except))
      .where(sql<boolean>`(turn_id, tool_call_id, round) > (${turnId}, ${toolCallId}, ${round})`)
      .orderBy('turn_id')
      .orderBy('tool_call_id')
      .orderBy('round')
      .limit(limit)
      .execute();
    return rows.map((row) => ({ table: 'tool_call_rounds', ...row }));
  },

  async tool_bundles(query, { except, after, limit }) {
    const rows = await query
      .selectFrom('tool_bundles')
      .select(['hash', 'sealed'])
      .where(beginsWithNone('sealed', except))
      .where('hash', '>', after?.table === 'tool_bundles' ? after.hash : '')
      .orderBy('hash')
      .limit(limit)
      .execute();
    return rows.map((row) => ({ table: 'tool_bundles', ...row }));
  },

  async tool_effects(query, { except, after, limit }) {
    const { workflowId = '', activityId = '' } = after?.table === 'tool_effects' ? after : {};
    const rows = await query
      .selectFrom('tool_effects')
      .select(['workflow_id as workflowId', 'activity_id as activityId'])
      .select(({ ref }) => ref('sealed').$notNull().as('sealed'))
      .where('sealed', 'is not', null)
      .where(beginsWithNone('sealed', except))
      .where(sql<boolean>`(workflow_id, activity_id) > (${workflowId}, ${activityId})`)
      .orderBy('workflow_id')
      .orderBy('activity_id')
      .limit(limit)
      .execute();
    return rows.map((row) => ({ table: 'tool_effects', ...row }));
  },

  async push_configs(query, { except, after, limit }) {
    const rows = await query
      .selectFrom('push_configs')
      .select(['delivery_id as deliveryId', 'sealed'])
      .where(beginsWithNone('sealed', except))
      .where('delivery_id', '>', after?.table === 'push_configs' ? after.deliveryId : '')
      .orderBy('delivery_id')
      .limit(limit)
      .execute();
    return rows.map((row) => ({ table: 'push_configs', ...row }));
  },

  async slack_installations(query, { except, after, limit }) {
    const rows = await query
      .selectFrom('slack_installations')
      .select(['team', 'sealed'])
      .where(beginsWithNone('sealed', except))
      .where('team', '>', after?.table === 'slack_installations' ? after.team : '')
      .orderBy('team')
      .limit(limit)
      .execute();
    return rows.map((row) => ({ table: 'slack_installations', ...row }));
  },

  async slack_events(query, { except, after, limit }) {
    const { team = '', eventId = '' } = after?.table === 'slack_events' ? after : {};
    const rows = await query
      .selectFrom('slack_events')
      .select(['team', 'event_id as eventId', 'sealed'])
      .where('sealed', '!=', '')
      .where(beginsWithNone('sealed', except))
      .where(sql<boolean>`(team, event_id) > (${team}, ${eventId})`)
      .orderBy('team')
      .orderBy('event_id')
      .limit(limit)
      .execute();
    return rows.map((row) => ({ table: 'slack_events', ...row }));
  },
};

function update(write: Kysely<Tables>, value: SealedValue, sealed: string): Promise<UpdateResult> {
  switch (value.table) {
    case 'connections':
      return write
        .updateTable('connections')
        .set({ sealed })
        .where(isConnection(value.key))
        .where('sealed', '=', value.sealed)
        .executeTakeFirst();
    case 'oauth_records':
      return write
        .updateTable('oauth_records')
        .set({ sealed })
        .where('key', '=', value.key)
        .where('sealed', '=', value.sealed)
        .executeTakeFirst();
    case 'oauth_attempts':
      return write
        .updateTable('oauth_attempts')
        .set({ sealed })
        .where('state_hash', '=', value.stateHash)
        .where('sealed', '=', value.sealed)
        .executeTakeFirst();
    case 'elicitation_answers':
      return write
        .updateTable('elicitation_answers')
        .set({ sealed_content: sealed })
        .where('elicitation_id', '=', value.elicitationId)
        .where('response_id', '=', value.responseId)
        .where('sealed_content', '=', value.sealed)
        .executeTakeFirst();
    case 'tool_call_rounds':
      return write
        .updateTable('tool_call_rounds')
        .set({ sealed })
        .where('turn_id', '=', value.turnId)
        .where('tool_call_id', '=', value.toolCallId)
        .where('round', '=', value.round)
        .where('sealed', '=', value.sealed)
        .executeTakeFirst();
    case 'tool_bundles':
      return write
        .updateTable('tool_bundles')
        .set({ sealed })
        .where('hash', '=', value.hash)
        .where('sealed', '=', value.sealed)
        .executeTakeFirst();
    case 'tool_effects':
      return write
        .updateTable('tool_effects')
        .set({ sealed })
        .where('workflow_id', '=', value.workflowId)
        .where('activity_id', '=', value.activityId)
        .where('sealed', '=', value.sealed)
        .executeTakeFirst();
    case 'push_configs':
      return write
        .updateTable('push_configs')
        .set({ sealed })
        .where('delivery_id', '=', value.deliveryId)
        .where('sealed', '=', value.sealed)
        .executeTakeFirst();
    case 'slack_installations':
      return write
        .updateTable('slack_installations')
        .set({ sealed })
        .where('team', '=', value.team)
        .where('sealed', '=', value.sealed)
        .executeTakeFirst();
    case 'slack_events':
      return write
        .updateTable('slack_events')
        .set({ sealed })
        .where('team', '=', value.team)
        .where('event_id', '=', value.eventId)
        .where('sealed', '=', value.sealed)
        .executeTakeFirst();
    default:
      return value satisfies never;
  }
}

function beginsWithNone(column: string, prefixes: string[]) {
  const conditions = prefixes.map((prefix) => sql`not ${begins(column, prefix)}`);
  return conditions.length === 0 ? sql<boolean>`true` : sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

/** Not `like`: the names of keys may have characters in them that mean something there. */
function begins(column: string, prefix: string) {
  return sql`substr(${sql.ref(column)}, 1, ${sql.lit(prefix.length)}) = ${prefix}`;
}
