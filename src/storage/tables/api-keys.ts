import { fromColumns, toColumns } from '../columns.ts';
import type { Fields } from '../columns.ts';
import type { Database } from '../database.ts';
import type { Row } from '../schema.ts';
import { findRow, updateRows } from '../statements.ts';

/** All false by default. */
export interface KeyRights {
  /** It may name a user of its tenant, and acts as that user then. */
  actsForUsers: boolean;
  /** It may also accept approvals of that user. */
  approvesForUsers: boolean;
}

export interface ApiKey extends Omit<Fields<Row<'api_keys'>>, keyof KeyRights | 'service'>, KeyRights {
  /** The key's owner. Keys of one service replace each other. */
  service: string;
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
          ...toColumns({ id, tenant, service, hash, createdBy, actsForUsers, approvesForUsers }),
          created_at: now(),
          last_used_at: null,
          revoked_at: null,
        })
        .execute();
    },
    async get(id: string): Promise<ApiKey | null> {
      const row = await findRow(query, 'api_keys', { id });
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
      await updateRows(query, 'api_keys', { id }, { last_used_at: now() });
    },
  };
}

function toApiKey(row: Row<'api_keys'>): ApiKey {
  const { actsForUsers, approvesForUsers, ...key } = fromColumns(row);
  return {
    ...key,
    service: key.service ?? key.id,
    actsForUsers: actsForUsers === 1,
    approvesForUsers: approvesForUsers === 1,
  };
}
