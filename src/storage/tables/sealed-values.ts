/**
 * All sealed values, for resealing with another key, and the proofs of keys. Tables are read in the order of their primary
 * keys, so that a pass sees each row once although others are written meanwhile.
 */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { ConnectionKey } from '../schema/account-tables.ts';
import type { Database } from '../database.ts';
import type { Fields } from '../columns.ts';
import type { Row, Tables } from '../schema.ts';
import { deleteRows, insertNew } from '../statements.ts';

/** A sealed value and its place. */
export type SealedValue = { sealed: string } & (
  | ({ table: 'connections'; store: string } & ConnectionKey)
  | { table: 'oauth_records'; key: string }
  | { table: 'oauth_attempts'; stateHash: string }
  | { table: 'elicitation_answers'; elicitationId: string; responseId: string }
  | { table: 'tool_call_rounds'; turnId: string; toolCallId: string; round: number }
  | { table: 'workflow_code'; id: string }
  | { table: 'tool_effects'; workflowId: string; activityId: string }
  | { table: 'push_configs'; deliveryId: string }
  | { table: 'slack_installations'; team: string }
  | { table: 'slack_events'; team: string; eventId: string }
);

export type SealedTable = SealedValue['table'];

type ValueOf<Table extends SealedTable> = Extract<SealedValue, { table: Table }>;

interface Place<Table extends SealedTable = SealedTable> {
  /** The columns of the primary key, in order, by their names in `SealedValue`. */
  key: Record<Exclude<keyof ValueOf<Table>, 'table' | 'sealed' | 'store'>, string>;
  /** `sealed` by default. */
  column?: string;
  /** Other members to which the value is bound. */
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

export function createSealedValues({ query, now }: Database) {
  /** Removed connections and handled events keep an empty value, others null. */
  const isUsed = (table: SealedTable, column: string) =>
    table === 'oauth_attempts' ? sql`expires_at > ${now()}` : sql`${sql.ref(column)} != ''`;

  return {
    tables: Object.keys(places) as SealedTable[],
    /**
     * Values that begin with none of `except`, in the order of their keys, after `after`. Leaves out what cannot be used any
     * more, such as expired attempts.
     */
    async page(
      table: SealedTable,
      { except, after, limit }: { except: string[]; after: SealedValue | null; limit: number },
    ): Promise<SealedValue[]> {
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
    /** The number of values, and of those that begin with `prefix`. */
    async count(table: SealedTable, prefix: string): Promise<{ all: number; withPrefix: number }> {
      const { column } = placeOf(table);
      const { rows } = await sql<{ all: number; with_prefix: number }>`
        select count(*) as "all", count(case when ${begins(column, prefix)} then 1 end) as with_prefix
        from ${sql.table(table)} where ${isUsed(table, column)}`.execute(query);
      const [counted = { all: 0, with_prefix: 0 }] = rows;
      return { all: counted.all, withPrefix: counted.with_prefix };
    },
    /** Each compare-and-set on what was read, all in one transaction. Changes nothing else of the rows. */
    replace: (changes: { value: SealedValue; sealed: string }[]): Promise<boolean[]> =>
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

/** The column is '' for a shared account, because it is part of a key. */
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

/** Not `like`: names of keys may contain its wildcards. */
function begins(column: string, prefix: string) {
  return sql`substr(${sql.ref(column)}, 1, ${sql.lit(prefix.length)}) = ${prefix}`;
}

/** `proof`: a text that this key has encrypted. */
type KeyProof = Omit<Fields<Row<'key_proofs'>>, 'createdAt'>;
type WrittenProof = Fields<Row<'key_proofs'>>;

/**
 * One proof for every key that seals or has sealed, by which a process checks whether its keys are those of this database.
 */
export function createKeyProofs({ query, now }: Database) {
  return {
    all: (): Promise<WrittenProof[]> =>
      query
        .selectFrom('key_proofs')
        .select(['key_id as keyId', 'proof', 'created_at as createdAt'])
        .orderBy('key_id')
        .execute(),
    /**
     * How many turns have not ended, began before this, and have values in their histories at Temporal that are sealed: digests
     * of calls that need an approval, and all that tools in TypeScript get and return.
     */
    async turnsThatHold(before: number): Promise<number> {
      const { count } = await query
        .selectFrom('turns')
        .select(({ fn }) => fn.countAll<number | string>().as('count'))
        .where('status', 'in', ['starting', 'running'])
        .where('created_at', '<', before)
        .where(({ or, exists, selectFrom }) =>
          or([
            exists(
              selectFrom('elicitations')
                .select('id')
                .whereRef('elicitations.turn_id', '=', 'turns.turn_id')
                .where('request', 'like', '%"trigger":"approval"%'),
            ),
            exists(
              selectFrom('tool_calls')
                .select('tool_call_id')
                .whereRef('tool_calls.turn_id', '=', 'turns.turn_id')
                // Tools of servers are named after them.
                .where(sql<boolean>`tool_name not like '%!_!_%' escape '!'`)
                .where(sql<boolean>`tool_name not like 'connect!_%' escape '!'`)
                .where('tool_name', '!=', 'ask_user'),
            ),
          ]),
        )
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    /** False, and nothing changes, when this key has one. */
    async add({ keyId, proof }: KeyProof): Promise<boolean> {
      const row = { key_id: keyId, proof, created_at: now() };
      return (await insertNew(query, 'key_proofs', row, ['key_id'])) > 0;
    },
    /** Nothing changes if the proof has changed. */
    async remove({ keyId, proof }: KeyProof): Promise<void> {
      await deleteRows(query, 'key_proofs', { key_id: keyId, proof });
    },
  };
}
