import type { Selectable } from 'kysely';
import type { ApiKey, ApiKeys } from '../ports/api-keys.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';

export function createApiKeys({ query, now }: Database): ApiKeys {
  return {
    async create({ id, tenant, service, hash, createdBy, actsForUsers = false, approvesForUsers = false }) {
      await query
        .insertInto('api_keys')
        .values({
          id,
          tenant,
          service,
          hash,
          created_by: createdBy,
          created_at: now(),
          last_used_at: null,
          revoked_at: null,
          acts_for_users: Number(actsForUsers),
          approves_for_users: Number(approvesForUsers),
        })
        .execute();
    },
    async get(id) {
      const row = await query.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst();
      return row ? toApiKey(row) : null;
    },
    async list(tenant) {
      const rows = await query
        .selectFrom('api_keys')
        .selectAll()
        .$if(tenant !== null, (keys) => keys.where('tenant', '=', tenant ?? ''))
        .orderBy('tenant')
        .orderBy('created_at')
        .execute();
      return rows.map(toApiKey);
    },
    async revoke(id) {
      const { numUpdatedRows } = await query
        .updateTable('api_keys')
        .set(({ fn, ref, val }) => ({ revoked_at: fn.coalesce(ref('revoked_at'), val(now())) }))
        .where('id', '=', id)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async used(id) {
      await query.updateTable('api_keys').set({ last_used_at: now() }).where('id', '=', id).execute();
    },
  };
}

function toApiKey(row: Selectable<Tables['api_keys']>): ApiKey {
  return {
    id: row.id,
    tenant: row.tenant,
    service: row.service,
    hash: row.hash,
    createdBy: row.created_by,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
    actsForUsers: row.acts_for_users === 1,
    approvesForUsers: row.approves_for_users === 1,
  };
}
