import type { ApiKeys } from './storage.ts';
import type { Database } from './tables.ts';

export function createApiKeys({ query, now }: Database): ApiKeys {
  return {
    async create({ id, tenant, hash }) {
      await query
        .insertInto('api_keys')
        .values({ id, tenant, hash, created_at: now(), revoked_at: null })
        .execute();
    },
    async get(id) {
      const row = await query
        .selectFrom('api_keys')
        .select(['tenant', 'hash', 'revoked_at'])
        .where('id', '=', id)
        .executeTakeFirst();
      return row ? { id, tenant: row.tenant, hash: row.hash, revokedAt: row.revoked_at } : null;
    },
  };
}
