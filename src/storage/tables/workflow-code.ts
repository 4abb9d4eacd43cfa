import type { Database } from '../database.ts';
import type { WorkflowCode } from '../ports/workflow-code.ts';

export function createWorkflowCode({ query, now }: Database): WorkflowCode {
  return {
    async keep({ id, kind, needs, sealed }) {
      const at = now();
      await query
        .insertInto('workflow_code')
        .values({ id, kind, needs, sealed, created_at: at, used_at: at })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ sealed, used_at: at }))
        .execute();
    },
    async touch(ids) {
      if (ids.length === 0) return;
      await query.updateTable('workflow_code').set({ used_at: now() }).where('id', 'in', ids).execute();
    },
    async get(id) {
      const row = await query
        .selectFrom('workflow_code')
        .select(['id', 'kind', 'needs', 'sealed'])
        .where('id', '=', id)
        .executeTakeFirst();
      return row ?? null;
    },
    async list(kind) {
      const rows = await query
        .selectFrom('workflow_code')
        .select(['id', 'kind', 'needs', 'used_at'])
        .where('kind', '=', kind)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .execute();
      return rows.map(({ used_at: usedAt, ...code }) => ({ ...code, usedAt }));
    },
    async drop(id, usedBefore) {
      const result = await query
        .deleteFrom('workflow_code')
        .where('id', '=', id)
        .where('used_at', '<', usedBefore)
        .executeTakeFirst();
      return result.numDeletedRows > 0n;
    },
  };
}
