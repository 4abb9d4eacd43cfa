import { sql } from 'kysely';
import type { ExpressionBuilder, Selectable } from 'kysely';
import { compileOnce } from '../compile-once.ts';
import type { ConnectionKey, ConnectionRow, Connections } from '../ports/connections.ts';
import { fromJson } from '../schema.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';
import type { Locks } from '../locks.ts';

export function createConnections({ kind, query, now }: Database, locks: Locks): Connections {
  const change = (key: ConnectionKey) => query.updateTable('connections').where(isConnection(key));

  return {
    async get(key) {
      const { tenant, server, user } = key;
      const { rows } = await selectOne(query, { tenant, server, user: user ?? '' });
      return rows[0] ? toConnection(rows[0]) : null;
    },
    async list({ tenant, user }) {
      const rows = await query
        .selectFrom('connections')
        .selectAll()
        .where('tenant', '=', tenant)
        .where('user_id', '=', user ?? '')
        .where('status', '!=', 'removed')
        .orderBy('server')
        .execute();
      return rows.map(toConnection);
    },
    async establish({ tenant, server, user }, { store, account, scopes, sealed, freshUntil }) {
      const at = now();
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
      const { version } = await query
        .insertInto('connections')
        .values({ tenant, server, user_id: user ?? '', version: 1, created_at: at, ...values })
        .onConflict((conflict) =>
          conflict.columns(['tenant', 'server', 'user_id']).doUpdateSet({
            ...values,
            version: sql`connections.version + 1`,
            // Connecting again after a removal is a new connection, only the count goes on.
            created_at: sql`case connections.status when 'removed' then ${at} else connections.created_at end`,
          }),
        )
        .returning('version')
        .executeTakeFirstOrThrow();
      return version;
    },
    async refresh(row, { sealed, freshUntil, scopes }) {
      const result = await change(row)
        .set({ sealed, fresh_until: freshUntil, scopes: JSON.stringify(scopes), updated_at: now() })
        .where('status', '!=', 'removed')
        .where('version', '=', row.version)
        .where('sealed', '=', row.sealed)
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },
    async markBroken(key, version, reason) {
      const result = await change(key)
        .set({ status: 'broken', broken_reason: reason, updated_at: now() })
        .where('status', '=', 'active')
        .where('version', '=', version)
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },
    async markTroubled(key, version, since) {
      await change(key).set({ troubled_at: since }).where('version', '=', version).execute();
    },
    remove: (key) =>
      query.transaction().execute(async (write) => {
        const row = await write
          .selectFrom('connections')
          .selectAll()
          .where(isConnection(key))
          .where('status', '!=', 'removed')
          // SQLite's transactions never interleave.
          .$if(kind === 'postgres', (some) => some.forUpdate())
          .executeTakeFirst();
        if (!row) return null;
        await write
          .updateTable('connections')
          .set({
            status: 'removed',
            broken_reason: null,
            account: null,
            scopes: '[]',
            sealed: '',
            fresh_until: null,
            troubled_at: null,
            updated_at: now(),
          })
          .where(isConnection(key))
          .execute();
        return toConnection(row);
      }),
    async lastVersion(key) {
      const row = await query
        .selectFrom('connections')
        .select('version')
        .where(isConnection(key))
        .executeTakeFirst();
      return row?.version ?? 0;
    },
    withLock: ({ tenant, server, user }, waitMs, work) =>
      locks.withLock(JSON.stringify(['connection', tenant, server, user]), waitMs, work),
  };
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
  return (row: ExpressionBuilder<Tables, 'connections'>) =>
    row.and([row('tenant', '=', tenant), row('server', '=', server), row('user_id', '=', user ?? '')]);
}

function toConnection(row: Selectable<Tables['connections']>): ConnectionRow {
  return {
    tenant: row.tenant,
    server: row.server,
    user: row.user_id === '' ? null : row.user_id,
    store: row.store,
    version: row.version,
    status: row.status === 'broken' ? 'broken' : 'active',
    brokenReason: row.broken_reason,
    account: row.account,
    scopes: fromJson(row.scopes),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    sealed: row.sealed,
    freshUntil: row.fresh_until,
    troubledAt: row.troubled_at,
  };
}
