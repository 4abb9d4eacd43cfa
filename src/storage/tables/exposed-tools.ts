import type { Database } from '../database.ts';
import type { ExposedTool, ExposedTools } from '../ports/exposed-tools.ts';
import { fromJson } from '../schema.ts';

export function createExposedTools({ query }: Database): ExposedTools {
  return {
    async replace(agents, tools) {
      await query.transaction().execute(async (write) => {
        if (agents.length > 0)
          await write.deleteFrom('agent_exposed_tools').where('agent', 'in', agents).execute();
        if (tools.length === 0) return;
        const rows = tools.map(({ name, agent, ...rest }) => ({
          name,
          agent,
          description: JSON.stringify(rest),
        }));
        await write
          .insertInto('agent_exposed_tools')
          .values(rows)
          .onConflict((same) =>
            same
              .columns(['agent', 'name'])
              .doUpdateSet(({ ref }) => ({ description: ref('excluded.description') })),
          )
          .execute();
      });
    },
    async list() {
      const rows = await query
        .selectFrom('agent_exposed_tools')
        .selectAll()
        .orderBy('name')
        .orderBy('agent')
        .execute();
      return rows.map(({ name, agent, description }) => ({
        ...fromJson<Omit<ExposedTool, 'name' | 'agent'>>(description),
        name,
        agent,
      }));
    },
  };
}
