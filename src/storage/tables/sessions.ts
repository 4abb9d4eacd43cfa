import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { isOneOf } from '../database.ts';
import type { Database } from '../database.ts';
import type { RepliedSession } from '../notifications/notifications.ts';
import { fromColumns, toColumns } from '../columns.ts';
import type { Fields } from '../columns.ts';
import { fromJson } from '../schema.ts';
import type { Row, Tables } from '../schema.ts';
import type { McpReply } from '../schema/session-tables.ts';
import { deleteRows, findRow, insertNew, updateRows, upsert } from '../statements.ts';

export interface McpSession extends Omit<Fields<Row<'mcp_sessions'>>, 'shows'> {
  shows: { url: boolean; form: boolean };
}

interface McpCall extends Omit<Fields<Row<'mcp_calls'>>, 'sessionId' | 'createdAt' | 'progressToken'> {
  /** The client's token for progress notifications. */
  progressToken: string | number | null;
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
        await updateRows(query, 'mcp_sessions', { id }, { expires_at: expiresAt });
      const { owner, version, shows } = row;
      return { id, owner, version, shows: fromJson(shows), expiresAt: row.expires_at };
    },
    async end(id: string): Promise<void> {
      await deleteRows(query, 'mcp_sessions', { id });
    },
    /** Replaces an earlier call with the same id. Deletes what is over in this session and was kept for a day. */
    async addCall(sessionId: string, call: McpCall): Promise<void> {
      await forget(sessionId);
      const { requestId, conversation, turnId, tool, idempotencyKey } = call;
      const progressToken = call.progressToken === null ? null : JSON.stringify(call.progressToken);
      const values = { conversation, turnId, tool, progressToken, idempotencyKey, createdAt: now() };
      await upsert(query, 'mcp_calls', { session_id: sessionId, request_id: requestId }, toColumns(values));
    },
    async findCall(sessionId: string, requestId: string): Promise<McpCall | null> {
      const row = await findRow(query, 'mcp_calls', { session_id: sessionId, request_id: requestId });
      if (!row) return null;
      const { sessionId: _, createdAt: _at, progressToken, ...call } = fromColumns(row);
      return { ...call, progressToken: progressToken === null ? null : fromJson(progressToken) };
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
  const ids = sessions.map(({ mcpSession }) => mcpSession);
  const rows = await query
    .selectFrom('mcp_replies')
    .select(['session_id as mcpSession', (count) => count.fn.sum<number>('times').as('replies')])
    .where(isOneOf(query, 'session_id', ids))
    .groupBy('session_id')
    .execute();
  return rows.map(({ mcpSession, replies }) => ({ mcpSession, replies: Number(replies) }));
}

/** Sessions of the pages that were ended before they expired. Their cookies may have been copied. */
export function createEndedSessions({ query }: Database) {
  return {
    /** Kept until `expiresAt`, when the cookie is not accepted any more. */
    async add({ idHash, expiresAt }: { idHash: string; expiresAt: number }): Promise<void> {
      await insertNew(query, 'ended_sessions', { id_hash: idHash, expires_at: expiresAt }, ['id_hash']);
    },
    async has(idHash: string): Promise<boolean> {
      return (await findRow(query, 'ended_sessions', { id_hash: idHash })) !== undefined;
    },
  };
}
