import type { Database } from '../database.ts';
import type { ToolBundles } from '../ports/tool-bundles.ts';

export function createToolBundles({ query, now }: Database): ToolBundles {
  return {
    async keep({ hash, sealed }) {
      const at = now();
      await query
        .insertInto('tool_bundles')
        .values({ hash, sealed, created_at: at, used_at: at })
        .onConflict((conflict) => conflict.column('hash').doUpdateSet({ sealed, used_at: at }))
        .execute();
    },
    async touch(hashes) {
      if (hashes.length === 0) return;
      await query.updateTable('tool_bundles').set({ used_at: now() }).where('hash', 'in', hashes).execute();
    },
    async get(hash) {
      const row = await query
        .selectFrom('tool_bundles')
        .select(['hash', 'sealed'])
        .where('hash', '=', hash)
        .executeTakeFirst();
      return row ?? null;
    },
    async list() {
      const rows = await query
        .selectFrom('tool_bundles')
        .select(['hash', 'used_at'])
        .orderBy('created_at', 'desc')
        .orderBy('hash')
        .execute();
      return rows.map(({ hash, used_at: usedAt }) => ({ hash, usedAt }));
    },
    async drop(hash, usedBefore) {
      const result = await query
        .deleteFrom('tool_bundles')
        .where('hash', '=', hash)
        .where('used_at', '<', usedBefore)
        .executeTakeFirst();
      return result.numDeletedRows > 0n;
    },
  };
}
