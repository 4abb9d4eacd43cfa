import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Database } from '../database.ts';
import { chunks } from '../log/append.ts';
import type { RepliedSession } from '../notifications/notifications.ts';
import { fromJson } from '../schema.ts';
import type { Tables } from '../schema.ts';
import type { McpReply } from '../schema/session-tables.ts';

export interface McpSession {
  id: string;
  owner: string;
  version: string;
  shows: { url: boolean; form: boolean };
  expiresAt: number;
}

interface McpCall {
  requestId: string;
  tool: string;
  conversation: string;
  turnId: string;
  /** The client's token for progress notifications. */
  progressToken: string | number | null;
  /** Identifies the call, because clients reuse request ids. */
  idempotencyKey: string | null;
}

/** How often the expiry is extended at most, because most requests only read. */
const putOffMs = 60_000;
/** Per owner. Programs that open a session for each call and never end it would fill the table. */
const mostSessions = 200;
/** How long a client may come back for the result of a call. */
const keptMs = 24 * 60 * 60 * 1000;

/** Sessions of MCP clients up to 2025-11-25. Any process serves any of them. They contain nothing that a person wrote. */
export type McpSessions = ReturnType<typeof createMcpSessions>;

export function createMcpSessions({ query, now, notifications }: Database) {
  return {
    /** Ends the least recently used sessions of an owner with too many. */
    async create({ id, owner, version, shows, expiresAt }: McpSession): Promise<void> {
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
    /** Null when it is unknown, expired or ended. Extends its expiry to `expiresAt`. */
    async find(id: string, expiresAt: number): Promise<McpSession | null> {
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
    async end(id: string): Promise<void> {
      await query.deleteFrom('mcp_sessions').where('id', '=', id).execute();
    },
    /** Replaces an earlier call with the same id. Deletes what is over in this session and was kept for a day. */
    async addCall(
      sessionId: string,
      { requestId, conversation, turnId, tool, progressToken, idempotencyKey }: McpCall,
    ): Promise<void> {
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
    async findCall(sessionId: string, requestId: string): Promise<McpCall | null> {
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
    /** Replaces an earlier reply to the same question. */
    async putReply(
      sessionId: string,
      { elicitationId, kind, reasons }: Omit<McpReply, 'times'>,
    ): Promise<void> {
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
    async replies(sessionId: string, elicitationIds: string[]): Promise<McpReply[]> {
      if (elicitationIds.length === 0) return [];
      return query
        .selectFrom('mcp_replies')
        .select(['elicitation_id as elicitationId', 'kind', 'reasons', 'times'])
        .where('session_id', '=', sessionId)
        .where('elicitation_id', 'in', elicitationIds)
        .execute();
    },
    /** Calls `heard` when any process may have put another reply, until the returned function is called. */
    onReply(sessionId: string, heard: () => void): () => void {
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

  /** Sessions may be in use for months: deletes old calls, and replies to closed questions. */
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

/** A number for each session that differs when there are new replies. */
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

/** Sessions of the pages that were ended before they expired. Their cookies may have been copied. */
export function createEndedSessions({ query, now }: Database) {
  return {
    /** Kept until `expiresAt`, when the cookie is not accepted any more. */
    async add({ idHash, expiresAt }: { idHash: string; expiresAt: number }): Promise<void> {
      await query.deleteFrom('ended_sessions').where('expires_at', '<=', now()).execute();
      await query
        .insertInto('ended_sessions')
        .values({ id_hash: idHash, expires_at: expiresAt })
        .onConflict((same) => same.column('id_hash').doNothing())
        .execute();
    },
    async has(idHash: string): Promise<boolean> {
      const row = await query
        .selectFrom('ended_sessions')
        .select('id_hash')
        .where('id_hash', '=', idHash)
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}
