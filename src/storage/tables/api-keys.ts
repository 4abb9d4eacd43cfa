import type { ApiKeys } from '../ports/api-keys.ts';
import type { Database } from '../database.ts';

const columns = [
  'id',
  'tenant',
  'hash',
  'created_by as createdBy',
  'created_at as createdAt',
  'last_used_at as lastUsedAt',
  'revoked_at as revokedAt',
] as const;

export function createApiKeys({ query, now }: Database): ApiKeys {
  return {
    async create({ id, tenant, hash, createdBy }) {
      await query
        .insertInto('api_keys')
        .values({
          id,
          tenant,
          hash,
          created_by: createdBy,
          created_at: now(),
          last_used_at: null,
          revoked_at: null,
        })
        .execute();
    },
    async get(id) {
      const row = await query.selectFrom('api_keys').select(columns).where('id', '=', id).executeTakeFirst();
      return row ?? null;
    },
    list: (tenant) =>
      query
        .selectFrom('api_keys')
        .select(columns)
        .$if(tenant !== null, (keys) => keys.where('tenant', '=', tenant ?? ''))
        .orderBy('tenant')
        .orderBy('created_at')
        .execute(),
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
