import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Database } from '../database.ts';
import type { McpSessions } from '../ports/mcp-sessions.ts';
import { chunks } from '../log/append.ts';
import type { RepliedSession } from '../notifications/notifications.ts';
import { fromJson } from '../schema.ts';
import type { Tables } from '../schema.ts';

/** Put off at most so often: most requests of a session only read. */
const putOffMs = 60_000;
/** Of one owner. Programs that open a session for each call, and end none, would fill the table otherwise. */
const mostSessions = 200;
/** As long as a client may come back for the result of a call. */
const keptMs = 24 * 60 * 60 * 1000;

export function createMcpSessions({
  query,
  now,
  notifications,
}: Pick<Database, 'query' | 'now' | 'notifications'>): McpSessions {
  return {
    async create({ id, owner, version, shows, expiresAt }) {
      await query.deleteFrom('mcp_sessions').where('expires_at', '<', now()).execute();
      await query
        .insertInto('mcp_sessions')
        .values({ id, owner, version, shows: JSON.stringify(shows), expires_at: expiresAt })
        .execute();
      const kept = query
        .selectFrom('mcp_sessions')
        .select('id')
        .where('owner', '=', owner)
        .orderBy('expires_at', 'desc')
        .limit(mostSessions);
      await query.deleteFrom('mcp_sessions').where('owner', '=', owner).where('id', 'not in', kept).execute();
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
    async addCall(sessionId, { requestId, conversation, turnId, tool, progressToken, idempotencyKey }) {
      await forget(sessionId);
      const call = {
        conversation,
        turn_id: turnId,
        tool,
        progress_token: progressToken === null ? null : JSON.stringify(progressToken),
        idempotency_key: idempotencyKey,
        created_at: now(),
      };
      await query
        .insertInto('mcp_calls')
        .values({ session_id: sessionId, request_id: requestId, ...call })
        .onConflict((same) => same.columns(['session_id', 'request_id']).doUpdateSet(call))
        .execute();
    },
    async findCall(sessionId, requestId) {
      const row = await query
        .selectFrom('mcp_calls')
        .select([
          'request_id as requestId',
          'conversation',
          'turn_id as turnId',
          'tool',
          'progress_token as progressToken',
          'idempotency_key as idempotencyKey',
        ])
        .where('session_id', '=', sessionId)
        .where('request_id', '=', requestId)
        .executeTakeFirst();
      if (!row) return null;
      const { progressToken } = row;
      return { ...row, progressToken: progressToken === null ? null : fromJson(progressToken) };
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
      notifications.announce({ mcpSession: sessionId });
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
    onReply(sessionId, heard) {
      const subscription = notifications.subscribe({ mcpSession: sessionId });
      let isHeard = true;
      const listen = async () => {
        while (isHeard && !notifications.closed) {
          await subscription.notified();
          subscription.reset();
          if (isHeard) heard();
        }
      };
      void listen();
      return () => {
        isHeard = false;
        subscription.close();
      };
    },
  };

  /** Sessions may be in use for months: calls of long ago, and what was said to questions that are closed. */
  async function forget(sessionId: string): Promise<void> {
    await query
      .deleteFrom('mcp_calls')
      .where('session_id', '=', sessionId)
      .where('created_at', '<', now() - keptMs)
      .execute();
    await sql`delete from mcp_replies where session_id = ${sessionId} and not exists (
      select 1 from elicitations where id = mcp_replies.elicitation_id and status = 'pending'
    )`.execute(query);
  }
}

/** Another number for each session as soon as something else was said in it. */
export async function countReplies(
  query: Kysely<Tables>,
  sessions: RepliedSession[],
): Promise<(RepliedSession & { replies: number })[]> {
  const counts: (RepliedSession & { replies: number })[] = [];
  for (const chunk of chunks(sessions)) {
    const rows = await query
      .selectFrom('mcp_replies')
      .select(['session_id as mcpSession', (count) => count.fn.sum<number>('times').as('replies')])
      .where(
        'session_id',
        'in',
        chunk.map(({ mcpSession }) => mcpSession),
      )
      .groupBy('session_id')
      .execute();
    counts.push(...rows.map(({ mcpSession, replies }) => ({ mcpSession, replies: Number(replies) })));
  }
  return counts;
}
