import { compileOnce } from '../compile-once.ts';
import type { ConnectionKey } from '../ports/connections.ts';
import type { ToolCatalogue } from '../ports/tool-catalogue.ts';
import { fromJson } from '../schema.ts';
import type { Database } from '../database.ts';

export function createToolCatalogue({ query, now }: Database): ToolCatalogue {
  return {
    async get(key) {
      const { tenant, server } = key;
      const userId = userIdOf(key);
      const { rows } = await selectOne(query, { tenant, server, userId });
      const [row] = rows;
      if (!row) return null;
      const { user_id, tools, audience, fresh_ms: freshMs, updated_at: updatedAt } = row;
      return { tools: fromJson(tools), audience, freshMs, isOwn: user_id === userId, updatedAt };
    },
    async put(key, { tools, audience, freshMs }) {
      const values = { tools: JSON.stringify(tools), audience, fresh_ms: freshMs, updated_at: now() };
      await query
        .insertInto('tool_catalogue')
        .values({ tenant: key.tenant, server: key.server, user_id: userIdOf(key), ...values })
        .onConflict((conflict) => conflict.columns(['tenant', 'server', 'user_id']).doUpdateSet(values))
        .execute();
    },
  };
}

const selectOne = compileOnce(
  (query, { tenant, server, userId }: { tenant: string; server: string; userId: string }) =>
    query
      .selectFrom('tool_catalogue')
      .select(['user_id', 'tools', 'audience', 'fresh_ms', 'updated_at'])
      .where('tenant', '=', tenant)
      .where('server', '=', server)
      .where((one) => one.or([one('user_id', '=', userId), one('audience', '=', 'tenant')]))
      .orderBy((one) => one.case().when('user_id', '=', userId).then(0).else(1).end())
      .orderBy('updated_at', 'desc')
      .limit(1)
      .compile(),
);

function userIdOf({ user }: ConnectionKey): string {
  return user ?? '';
}
