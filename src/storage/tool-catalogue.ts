import type { ToolCatalogue } from './storage.ts';
import { fromJson } from './tables.ts';
import type { Database } from './tables.ts';

export function createToolCatalogue({ query, now }: Database): ToolCatalogue {
  return {
    async get(tenant, server) {
      const row = await query
        .selectFrom('tool_catalogue')
        .select(['tools', 'updated_at'])
        .where('tenant', '=', tenant)
        .where('server', '=', server)
        .executeTakeFirst();
      return row ? { tools: fromJson(row.tools), updatedAt: row.updated_at } : null;
    },
    async put(tenant, server, tools) {
      const values = { tools: JSON.stringify(tools), updated_at: now() };
      await query
        .insertInto('tool_catalogue')
        .values({ tenant, server, ...values })
        .onConflict((conflict) => conflict.columns(['tenant', 'server']).doUpdateSet(values))
        .execute();
    },
  };
}
