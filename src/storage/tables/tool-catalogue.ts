import { sql } from 'kysely';
import type { ConnectionKey, ToolList } from '../schema/account-tables.ts';
import { compileOnce } from '../database.ts';
import { fromJson } from '../schema.ts';
import type { Database } from '../database.ts';
import type { LearnedEra } from '../schema/session-tables.ts';
import { deleteRows, upsert } from '../statements.ts';

/** `isOwn`: listed for the account that was asked about. */
export interface KeptToolList extends ToolList {
  isOwn: boolean;
  updatedAt: number;
}

export function createToolCatalogue({ query, now }: Database) {
  return {
    /** The list of this account; otherwise the newest one of the tenant that may be shared. */
    async get(key: ConnectionKey): Promise<KeptToolList | null> {
      const { tenant, server } = key;
      const userId = userIdOf(key);
      const { rows } = await selectOne(query, { tenant, server, userId });
      const [row] = rows;
      if (!row) return null;
      const { user_id, tools, audience, fresh_ms: freshMs, updated_at: updatedAt } = row;
      return { tools: fromJson(tools), audience, freshMs, isOwn: user_id === userId, updatedAt };
    },
    put(key: ConnectionKey, { tools, audience, freshMs }: ToolList): Promise<void> {
      const { tenant, server } = key;
      const values = { tools: JSON.stringify(tools), audience, fresh_ms: freshMs, updated_at: now() };
      return upsert(query, 'tool_catalogue', { tenant, server, user_id: userIdOf(key) }, values);
    },
  };
}

/** Each half reads one row by an index, however many accounts the tenant has. */
const selectOne = compileOnce(
  (query, { tenant, server, userId }: { tenant: string; server: string; userId: string }) => {
    const of = query
      .selectFrom('tool_catalogue')
      .select(['user_id', 'tools', 'audience', 'fresh_ms', 'updated_at'])
      .where(({ and }) => and({ tenant, server }));
    const own = of.where('user_id', '=', userId).select(sql.lit(0).as('place'));
    // A literal: with a parameter, PostgreSQL does not use the partial index.
    const shared = of
      .where('audience', '=', sql.lit('tenant'))
      .orderBy('updated_at', 'desc')
      .limit(1)
      .select(sql.lit(1).as('place'));
    return query
      .selectFrom(own.unionAll(query.selectFrom(shared.as('shared')).selectAll()).as('found'))
      .selectAll()
      .orderBy('place')
      .limit(1)
      .compile();
  },
);

function userIdOf({ user }: ConnectionKey): string {
  return user ?? '';
}

/** Tools in TypeScript that clients may call without a model. Workers know them, and processes of the API read them here. */
export interface ExposedTool {
  name: string;
  /** The agent for which it is called: its approvals apply, and the conversation is with it. */
  agent: string;
  title: string;
  description: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  annotations?: {
    readOnlyHint?: boolean;
    destructiveHint?: boolean;
    idempotentHint?: boolean;
    openWorldHint?: boolean;
  };
}

export function createExposedTools({ query }: Database) {
  return {
    /**
     * Replaces what these agents expose. A worker calls it for all agents of its file when it starts. Other agents belong to
     * workers with another agents file.
     */
    async replace(agents: string[], tools: ExposedTool[]): Promise<void> {
      await query.transaction().execute(async (write) => {
        if (agents.length > 0)
          await write.deleteFrom('agent_exposed_tools').where('agent', 'in', agents).execute();
        for (const { name, agent, ...rest } of tools)
          await upsert(write, 'agent_exposed_tools', { agent, name }, { description: JSON.stringify(rest) });
      });
    },
    /** By name, then by agent. */
    async list(): Promise<ExposedTool[]> {
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

export type LearnedEras = ReturnType<typeof createLearnedEras>;

export function createLearnedEras({ query, now }: Database) {
  return {
    /** The latest first. */
    list: (): Promise<LearnedEra[]> =>
      query
        .selectFrom('learned_eras')
        .select(['server', 'tool', 'era', 'identity'])
        .orderBy('learned_at', 'desc')
        .execute(),
    /** Replaces what was learned about this tool before. */
    learn({ server, tool, era, identity }: LearnedEra): Promise<void> {
      return upsert(query, 'learned_eras', { server, tool }, { era, identity, learned_at: now() });
    },
    async forget(server: string): Promise<void> {
      await deleteRows(query, 'learned_eras', { server });
    },
  };
}
