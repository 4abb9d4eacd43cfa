import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { LogEntry } from '../../turn/event.ts';
import { conversationColumns, toConversationRow } from './conversation-rows.ts';
import { isConversation } from '../log/append.ts';
import type { Conversations, StoredMessage } from '../ports/conversations.ts';
import { fromJson } from '../schema.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';
import { toLogEntry } from '../log/turn-log.ts';

export function createConversations({ query }: Database): Conversations {
  return {
    async list({ tenant, user, service = null }, { after, limit }) {
      const rows = await query
        .selectFrom('conversations')
        .select(conversationColumns)
        .select((row) =>
          row
            .selectFrom('turns')
            .select('turn_id')
            .whereRef('turns.tenant', '=', 'conversations.tenant')
            .whereRef('turns.conversation', '=', 'conversations.conversation')
            .where('status', '=', 'running')
            .orderBy('turns.created_at', 'desc')
            .limit(1)
            .as('live_turn'),
        )
        .where('tenant', '=', tenant)
        .where('user_id', user === null ? 'is' : '=', user)
        .where('service', service === null ? 'is' : '=', service)
        .$if(after !== null, (older) =>
          older.where(
            sql<boolean>`(updated_at, conversation) < (${after?.updatedAt ?? 0}, ${after?.conversation ?? ''})`,
          ),
        )
        .orderBy('updated_at', 'desc')
        .orderBy('conversation', 'desc')
        .limit(limit)
        .execute();
      return rows.map((row) => ({ ...toConversationRow(row), liveTurn: row.live_turn }));
    },

    async turns(ref, { before, limit }) {
      const begun = await query
        .selectFrom('turn_events')
        .innerJoin('turns', 'turns.turn_id', 'turn_events.turn_id')
        .select(['turn_events.seq', 'turn_events.turn_id', 'turns.status'])
        .where('turn_events.tenant', '=', ref.tenant)
        .where('turn_events.conversation', '=', ref.conversation)
        .where('turn_events.key', '=', 'turn-started')
        .$if(before !== null, (older) => older.where('turn_events.seq', '<', before ?? 0))
        .orderBy('turn_events.seq', 'desc')
        .limit(limit)
        .execute();
      const turnIds = begun.map((row) => row.turn_id);
      const over = begun.filter(({ status }) => status !== 'running').map((row) => row.turn_id);
      const given = await givenTo(query, turnIds);
      const logs = await logsOf(query, over);
      return begun.reverse().map(({ turn_id: turnId, seq }) => ({
        turnId,
        seq,
        given: given.filter((message) => message.turnId === turnId),
        log: over.includes(turnId) ? logs.filter((entry) => entry.turnId === turnId) : null,
      }));
    },

    async starting(ref) {
      const rows = await query
        .selectFrom('turns')
        .select(['turn_id', 'staged'])
        .where(isConversation(ref))
        .where('status', '=', 'starting')
        .orderBy('created_at')
        .execute();
      return rows.map(({ turn_id: turnId, staged }) => {
        const messages = fromJson<Omit<StoredMessage, 'turnId'>[]>(staged ?? '[]');
        return { turnId, given: messages.map((message) => ({ ...message, turnId })) };
      });
    },
  };
}

/**
 * What clients sent to begin these turns: not what agents and tools made of it. Asked for by turn alone, or SQLite
 * reads the whole conversation to have it in order.
 */
async function givenTo(query: Kysely<Tables>, turnIds: string[]): Promise<StoredMessage[]> {
  if (turnIds.length === 0) return [];
  const rows = await query
    .selectFrom('messages')
    .innerJoin('turns', 'turns.turn_id', 'messages.turn_id')
    .select(['messages.id', 'messages.turn_id', 'messages.role', 'messages.content'])
    .where('messages.turn_id', 'in', turnIds)
    .where(
      sql<boolean>`(messages.id = turns.client_message_id or
        substr(messages.id, 1, length(turns.turn_id) + 9) = turns.turn_id || '/history/')`,
    )
    .orderBy('messages.position')
    .execute();
  return rows.map(({ id, turn_id: turnId, role, content }) => ({
    id,
    turnId,
    role,
    content: fromJson(content),
  }));
}

async function logsOf(query: Kysely<Tables>, turnIds: string[]): Promise<LogEntry[]> {
  if (turnIds.length === 0) return [];
  const rows = await query
    .selectFrom('turn_events')
    .select(['seq', 'turn_id', 'event', 'at'])
    .where('turn_id', 'in', turnIds)
    .orderBy('seq')
    .execute();
  return rows.map((row) => toLogEntry(row));
}
