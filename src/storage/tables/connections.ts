import { sql } from 'kysely';
import type { ExpressionBuilder, Transaction } from 'kysely';
import type { ConnectionReason } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { TurnOwner } from '../../turn/turn.ts';
import { compileOnce, isPostgres } from '../database.ts';
import { fromColumns } from '../columns.ts';
import { fromJson } from '../schema.ts';
import type { Database } from '../database.ts';
import type { Row, Tables } from '../schema.ts';
import type { Locks } from '../locks.ts';
import { toElicitation } from './elicitation-rows.ts';
import { advanced, announceSettled, nothingSettled, writeSettled } from './settling.ts';
import type { Settled } from './settling.ts';
import type { ConnectionRow, ConnectionKey } from '../schema/account-tables.ts';

/** A removed row, or one that exists only to be locked. */
const withoutAccount = {
  status: 'removed',
  broken_reason: null,
  account: null,
  scopes: '[]',
  sealed: '',
  fresh_until: null,
  troubled_at: null,
} as const;

export type Connections = ReturnType<typeof createConnections>;

export function createConnections(database: Database, locks: Locks) {
  const { query, now } = database;
  const change = (key: ConnectionKey) => query.updateTable('connections').where(isConnection(key));

  return {
    async get(key: ConnectionKey): Promise<ConnectionRow | null> {
      const { tenant, server, user } = key;
      const { rows } = await selectOne(query, { tenant, server, user: user ?? '' });
      return rows[0] ? toConnection(rows[0]) : null;
    },
    async list({ tenant, user }: TurnOwner): Promise<ConnectionRow[]> {
      const rows = await query
        .selectFrom('connections')
        .selectAll()
        .where(({ and }) => and({ tenant, user_id: user ?? '' }))
        .where('status', '!=', 'removed')
        .orderBy('server')
        .execute();
      return rows.map(toConnection);
    },
    /**
     * Creates or replaces the connection as `active` with the next version, and returns that version. For a user's own
     * account the waiting questions are settled in the same transaction; for a shared one the version is committed first and
     * the questions follow in batches, which another call of `settleConnected` completes.
     */
    async establish(
      key: ConnectionKey,
      connection: Pick<ConnectionRow, 'store' | 'account' | 'scopes' | 'sealed' | 'freshUntil'>,
    ): Promise<number> {
      if (key.user === null) {
        const version = await query
          .transaction()
          .execute((write) => establish(write, key, connection, now()));
        await settleConnected(database, key);
        return version;
      }
      const { version, settled } = await query.transaction().execute(async (write) => {
        const at = now();
        const version = await establish(write, key, connection, at);
        return { version, settled: await settleWaiting(write, key, version, at) };
      });
      announceSettled(database, settled);
      return version;
    },
    /** Settles the questions that wait for an older version of this account than the current one. Idempotent. */
    settleConnected: (key: ConnectionKey): Promise<void> => settleConnected(database, key),
    /** Refreshed secrets of the same version. Compare-and-set on `version` and the previous `sealed`. */
    async refresh(
      row: ConnectionRow,
      { sealed, freshUntil, scopes }: Pick<ConnectionRow, 'sealed' | 'freshUntil' | 'scopes'>,
    ): Promise<boolean> {
      const result = await change(row)
        .set({ sealed, fresh_until: freshUntil, scopes: JSON.stringify(scopes), updated_at: now() })
        .where('status', '!=', 'removed')
        .where(({ and }) => and({ version: row.version, sealed: row.sealed }))
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },
    /** `active` → `broken`, only if `version` is still current. */
    async markBroken(key: ConnectionKey, version: number, reason: ConnectionReason): Promise<boolean> {
      const result = await change(key)
        .set({ status: 'broken', broken_reason: reason, updated_at: now() })
        .where(({ and }) => and({ status: 'active', version }))
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },
    /** Notes since when its store has trouble; null: the trouble is over. Only if `version` is still current. */
    async markTroubled(key: ConnectionKey, version: number, since: number | null): Promise<void> {
      await change(key).set({ troubled_at: since }).where('version', '=', version).execute();
    },
    /** Deletes the account and its secret, and returns the row as it was; null: there was no connection. */
    remove: (key: ConnectionKey): Promise<ConnectionRow | null> =>
      query.transaction().execute(async (write) => {
        const row = await write
          .selectFrom('connections')
          .selectAll()
          .where(isConnection(key))
          .where('status', '!=', 'removed')
          .$if(isPostgres(write), (some) => some.forUpdate())
          .executeTakeFirst();
        if (!row) return null;
        await write
          .updateTable('connections')
          .set({ ...withoutAccount, updated_at: now() })
          .where(isConnection(key))
          .execute();
        return toConnection(row);
      }),
    /** Of the newest connection, also if it was removed since; the next one has a higher version. 0: there was none. */
    async lastVersion(key: ConnectionKey): Promise<number> {
      const row = await query
        .selectFrom('connections')
        .select('version')
        .where(isConnection(key))
        .executeTakeFirst();
      return row?.version ?? 0;
    },
    /** Runs `work` while no other process holds the lock of this connection. Waits at most `waitMs`, then rejects. */
    withLock: <T>(
      { tenant, server, user }: ConnectionKey,
      waitMs: number,
      work: () => Promise<T>,
    ): Promise<T> => locks.withLock(JSON.stringify(['connection', tenant, server, user]), waitMs, work),
  };
}

type Secrets = Parameters<Connections['establish']>[1];

async function establish(
  write: Transaction<Tables>,
  { tenant, server, user }: ConnectionKey,
  { store, account, scopes, sealed, freshUntil }: Secrets,
  at: number,
): Promise<number> {
  const values = {
    store,
    status: 'active' as const,
    broken_reason: null,
    account,
    scopes: JSON.stringify(scopes),
    sealed,
    fresh_until: freshUntil,
    troubled_at: null,
    updated_at: at,
  };
  const { version } = await write
    .insertInto('connections')
    .values({ tenant, server, user_id: user ?? '', version: 1, created_at: at, ...values })
    .onConflict((conflict) =>
      conflict.columns(['tenant', 'server', 'user_id']).doUpdateSet({
        ...values,
        version: sql`connections.version + 1`,
        // A connection after a removal is new; only the version continues.
        created_at: sql`case connections.status when 'removed' then ${at} else connections.created_at end`,
      }),
    )
    .returning('version')
    .executeTakeFirstOrThrow();
  return version;
}

/** The number of questions of a shared account that one transaction settles. */
const batchSize = 50;

async function settleConnected(database: Database, key: ConnectionKey): Promise<void> {
  const { query, now } = database;
  for (;;) {
    const settled = await query.transaction().execute(async (write) => {
      const row = await write
        .selectFrom('connections')
        .select('version')
        .where(isConnection(key))
        .where('status', '=', 'active')
        .executeTakeFirst();
      return row ? settleWaiting(write, key, row.version, now()) : nothingSettled;
    });
    announceSettled(database, settled);
    if (settled.questions.length < batchSize) return;
  }
}

/** For a user's own account, all questions that wait for an older version; for a shared one, a batch. */
async function settleWaiting(
  write: Transaction<Tables>,
  { tenant, server, user }: ConnectionKey,
  version: number,
  at: number,
): Promise<Settled> {
  const rows = await write
    .selectFrom('elicitations')
    .selectAll()
    .where(({ and }) => and({ status: 'pending', tenant, server }))
    .where('seen_version', '<', version)
    .$if(user !== null, (own) => own.where('user_id', '=', user ?? ''))
    .orderBy('id')
    .$if(user === null, (some) => some.limit(batchSize))
    .$if(isPostgres(write), (some) => some.forNoKeyUpdate())
    .execute();
  const event = { type: 'connected' as const, server, version };
  const changed = rows.map((row) => advanced(toElicitation(row), event, at));
  return writeSettled(write, changed, { at });
}

const lockOne = compileOnce((write, key: ConnectionKey & { user: string; at: number }) => {
  const { tenant, server, user, at } = key;
  return write
    .insertInto('connections')
    .values({
      tenant,
      server,
      user_id: user,
      store: '',
      version: 0,
      ...withoutAccount,
      created_at: at,
      updated_at: at,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant', 'server', 'user_id'])
        .doUpdateSet((row) => ({ updated_at: row.ref('connections.updated_at') })),
    )
    .returning(['status', 'version'])
    .compile();
});

/** Until the transaction ends, this account cannot be connected. Creates the row, in version 0, if there was none. */
export async function lockConnection(
  write: Transaction<Tables>,
  key: ConnectionKey & { user: string },
  at: number,
): Promise<Pick<Row<'connections'>, 'status' | 'version'>> {
  const { tenant, server, user } = key;
  const { rows } = await lockOne(write, { tenant, server, user, at });
  return rows[0] ?? { status: 'removed', version: 0 };
}

const selectOne = compileOnce((query, key: ConnectionKey & { user: string }) =>
  query
    .selectFrom('connections')
    .selectAll()
    .where(isConnection(key))
    .where('status', '!=', 'removed')
    .compile(),
);

function isConnection({ tenant, server, user }: ConnectionKey) {
  return (row: ExpressionBuilder<Tables, 'connections'>) => row.and({ tenant, server, user_id: user ?? '' });
}

function toConnection(row: Row<'connections'>): ConnectionRow {
  const { user, status, scopes, ...same } = fromColumns(row);
  return {
    ...same,
    user: user === '' ? null : user,
    status: status === 'broken' ? 'broken' : 'active',
    scopes: fromJson(scopes),
  };
}
