/**
 * Everything that is sealed, wherever it is, for whoever brings it to another key. The tables are gone through in the
 * order of their primary keys, so that a pass sees each row once however many are written meanwhile.
 */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { SealedTable, SealedValue, SealedValues } from '../ports/sealed-values.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';

type ValueOf<Table extends SealedTable> = Extract<SealedValue, { table: Table }>;

interface Place<Table extends SealedTable = SealedTable> {
  /** The columns of the primary key, in its order, by what they are called outside. */
  key: Record<Exclude<keyof ValueOf<Table>, 'table' | 'sealed' | 'store'>, string>;
  /** Default `sealed`. */
  column?: string;
  /** Whose values are bound to more than their key. */
  more?: Record<string, string>;
}

const places: { [Table in SealedTable]: Place<Table> } = {
  connections: { key: { tenant: 'tenant', server: 'server', user: 'user_id' }, more: { store: 'store' } },
  oauth_records: { key: { key: 'key' } },
  oauth_attempts: { key: { stateHash: 'state_hash' } },
  elicitation_answers: {
    key: { elicitationId: 'elicitation_id', responseId: 'response_id' },
    column: 'sealed_content',
  },
  tool_call_rounds: { key: { turnId: 'turn_id', toolCallId: 'tool_call_id', round: 'round' } },
  workflow_code: { key: { id: 'id' } },
  tool_effects: { key: { workflowId: 'workflow_id', activityId: 'activity_id' } },
  push_configs: { key: { deliveryId: 'delivery_id' } },
  slack_installations: { key: { team: 'team' } },
  slack_events: { key: { team: 'team', eventId: 'event_id' } },
};

function placeOf(table: SealedTable) {
  const { key, column = 'sealed', more = {} }: Place = places[table];
  return { key: Object.entries<string>(key), column, more: Object.entries(more) };
}

export function createSealedValues({ query, now }: Database): SealedValues {
  /** Removed connections and events that are done with keep an empty value, others none. */
  const isUsed = (table: SealedTable, column: string) =>
    table === 'oauth_attempts' ? sql`expires_at > ${now()}` : sql`${sql.ref(column)} != ''`;

  return {
    tables: Object.keys(places) as SealedTable[],
    async page(table, { except, after, limit }) {
      const { key, column, more } = placeOf(table);
      const shown = [...key, ...more].map(([field, name]) => sql`${toField(name)} as ${sql.ref(field)}`);
      const order = sql.join(key.map(([, name]) => sql.ref(name)));
      const isLater = after ? sql`(${order}) > (${sql.join(keyOf(after))})` : sql`true`;
      const { rows } = await sql<SealedValue>`
        select ${sql.join(shown)}, ${sql.ref(column)} as sealed from ${sql.table(table)}
        where ${isUsed(table, column)} and ${beginsWithNone(column, except)} and ${isLater}
        order by ${order} limit ${limit}`.execute(query);
      return rows.map((row) => ({ ...row, table }) as SealedValue);
    },
    async count(table, prefix) {
      const { column } = placeOf(table);
      const { rows } = await sql<{ all: number; with_prefix: number }>`
        select count(*) as "all", count(case when ${begins(column, prefix)} then 1 end) as with_prefix
        from ${sql.table(table)} where ${isUsed(table, column)}`.execute(query);
      const [counted = { all: 0, with_prefix: 0 }] = rows;
      return { all: counted.all, withPrefix: counted.with_prefix };
    },
    replace: (changes) =>
      query.transaction().execute(async (write) => {
        const replaced: boolean[] = [];
        for (const { value, sealed } of changes) replaced.push(await replace(write, value, sealed));
        return replaced;
      }),
  };
}

async function replace(write: Kysely<Tables>, value: SealedValue, sealed: string): Promise<boolean> {
  const { key, column } = placeOf(value.table);
  const names = sql.join(key.map(([, name]) => sql.ref(name)));
  const { numAffectedRows } = await sql`
    update ${sql.table(value.table)} set ${sql.ref(column)} = ${sealed}
    where (${names}) = (${sql.join(keyOf(value))}) and ${sql.ref(column)} = ${value.sealed}`.execute(write);
  return numAffectedRows === 1n;
}

/** In the database the user of a service's own account is '', so that it can be part of a key. */
const toField = (column: string) =>
  column === 'user_id' ? sql`nullif(${sql.ref(column)}, '')` : sql.ref(column);

function keyOf(value: SealedValue): unknown[] {
  const fields: Record<string, unknown> = { ...value };
  return placeOf(value.table).key.map(([field]) => fields[field] ?? '');
}

function beginsWithNone(column: string, prefixes: string[]) {
  const conditions = prefixes.map((prefix) => sql`not ${begins(column, prefix)}`);
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

/** Not `like`: the names of keys may have characters in them that mean something there. */
function begins(column: string, prefix: string) {
  return sql`substr(${sql.ref(column)}, 1, ${sql.lit(prefix.length)}) = ${prefix}`;
}
