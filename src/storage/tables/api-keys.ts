import type { Selectable } from 'kysely';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';

/** All false by default. */
export interface KeyRights {
  /** It may name a user of its tenant, and acts as that user then. */
  actsForUsers: boolean;
  /** It may also accept approvals of that user. */
  approvesForUsers: boolean;
}

export interface ApiKey extends KeyRights {
  id: string;
  tenant: string;
  /** The key's owner; keys of one service replace each other. */
  service: string;
  hash: string;
  /** Who made it, as reported by their machine; null for older keys. */
  createdBy: string | null;
  createdAt: number;
  /** Within a minute. */
  lastUsedAt: number | null;
  revokedAt: number | null;
}

export type ApiKeys = ReturnType<typeof createApiKeys>;

export function createApiKeys({ query, now }: Database) {
  return {
    async create({
      id,
      tenant,
      service,
      hash,
      createdBy,
      actsForUsers = false,
      approvesForUsers = false,
    }: Pick<ApiKey, 'id' | 'tenant' | 'service' | 'hash' | 'createdBy'> & Partial<KeyRights>): Promise<void> {
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
    async get(id: string): Promise<ApiKey | null> {
      const row = await query.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst();
      return row ? toApiKey(row) : null;
    },
    /** Of one tenant, or of all; with revoked ones. */
    async list(tenant: string | null): Promise<ApiKey[]> {
      const rows = await query
        .selectFrom('api_keys')
        .selectAll()
        .$if(tenant !== null, (keys) => keys.where('tenant', '=', tenant ?? ''))
        .orderBy('tenant')
        .orderBy('created_at')
        .execute();
      return rows.map(toApiKey);
    },
    /** False when there is none. The first time of revocation stays. */
    async revoke(id: string): Promise<boolean> {
      const { numUpdatedRows } = await query
        .updateTable('api_keys')
        .set(({ fn, ref, val }) => ({ revoked_at: fn.coalesce(ref('revoked_at'), val(now())) }))
        .where('id', '=', id)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    /** Notes that it was used now. */
    async used(id: string): Promise<void> {
      await query.updateTable('api_keys').set({ last_used_at: now() }).where('id', '=', id).execute();
    },
  };
}

function toApiKey(row: Selectable<Tables['api_keys']>): ApiKey {
  return {
    id: row.id,
    tenant: row.tenant,
    service: row.service ?? row.id,
    hash: row.hash,
    createdBy: row.created_by,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
    actsForUsers: row.acts_for_users === 1,
    approvesForUsers: row.approves_for_users === 1,
  };
}
