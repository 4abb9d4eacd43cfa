import { sql } from 'kysely';
import type { Database } from '../database.ts';
import type { McpSessions } from '../ports/mcp-sessions.ts';
import { fromJson } from '../schema.ts';

/** Put off at most so often: most requests of a session only read. */
const putOffMs = 60_000;

export function createMcpSessions({ query, now }: Database): McpSessions {
  return {
    async create({ id, owner, version, shows, expiresAt }) {
      await query.deleteFrom('mcp_sessions').where('expires_at', '<', now()).execute();
      await query
        .insertInto('mcp_sessions')
        .values({ id, owner, version, shows: JSON.stringify(shows), expires_at: expiresAt })
        .execute();
    },
    async find(id, expiresAt) {
      const row = await query
        .selectFrom('mcp_sessions')
        .selectAll()
        .where('id', '=', id)
        .where('expires_at', '>=', now())
        .executeTakeFirst();
      if (!row) return null;
      if (row.expires_at + putOffMs < expiresAt)
        await query.updateTable('mcp_sessions').set({ expires_at: expiresAt }).where('id', '=', id).execute();
      const { owner, version, shows } = row;
      return { id, owner, version, shows: fromJson(shows), expiresAt: row.expires_at };
    },
    async end(id) {
      await query.deleteFrom('mcp_sessions').where('id', '=', id).execute();
    },
    async addCall(sessionId, { requestId, conversation, turnId, tool }) {
      await query
        .insertInto('mcp_calls')
        .values({ session_id: sessionId, request_id: requestId, conversation, turn_id: turnId, tool })
        .onConflict((same) => same.columns(['session_id', 'request_id']).doNothing())
        .execute();
    },
    async findCall(sessionId, requestId) {
      const row = await query
        .selectFrom('mcp_calls')
        .select(['request_id as requestId', 'conversation', 'turn_id as turnId', 'tool'])
        .where('session_id', '=', sessionId)
        .where('request_id', '=', requestId)
        .executeTakeFirst();
      return row ?? null;
    },
    async putReply(sessionId, { elicitationId, kind, reasons }) {
      await query
        .insertInto('mcp_replies')
        .values({
          session_id: sessionId,
          elicitation_id: elicitationId,
          kind,
          reasons,
          times: 1,
        })
        .onConflict((same) =>
          same
            .columns(['session_id', 'elicitation_id'])
            .doUpdateSet({ kind, reasons, times: sql`mcp_replies.times + 1` }),
        )
        .execute();
    },
    async replies(sessionId, elicitationIds) {
      if (elicitationIds.length === 0) return [];
      return query
        .selectFrom('mcp_replies')
        .select(['elicitation_id as elicitationId', 'kind', 'reasons', 'times'])
        .where('session_id', '=', sessionId)
        .where('elicitation_id', 'in', elicitationIds)
        .execute();
    },
  };
}
