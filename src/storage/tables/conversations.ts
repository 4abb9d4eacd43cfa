import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { LogEntry } from '../../turn/event.ts';
import type { ConversationRef, TurnOwner, TurnRef } from '../../turn/turn.ts';
import { isConversation, columnOf } from '../log/append.ts';
import { fromColumns } from '../columns.ts';
import type { Fields } from '../columns.ts';
import { fromJson } from '../schema.ts';
import type { Database } from '../database.ts';
import type { Row, Tables } from '../schema.ts';
import { contentFromRow } from '../log/coded-rows.ts';
import { toLogEntry } from '../log/turn-log.ts';
import { compileOnce } from '../database.ts';
import type { StoredMessage } from '../schema/turn-tables.ts';

export type ConversationRow = Fields<Pick<Row<'conversations'>, (typeof conversationColumns)[number]>>;

/** A conversation and its running turn. */
export interface ListedConversation extends ConversationRow {
  liveTurn: string | null;
}

/** A turn that has begun. */
export interface BegunTurn {
  turnId: string;
  /** Of its `turn-started`, for the order of turns. */
  seq: number;
  /** What clients sent to begin it: its user message, after the history of a new conversation. */
  given: StoredMessage[];
  /** Its whole log; null while it runs. */
  log: LogEntry[] | null;
}

export function createConversations({ query }: Database) {
  return {
    /** Last changed first. `after`: the last one of the page before. */
    async list(
      { tenant, user, service = null }: TurnOwner,
      { after, limit }: { after: Pick<ConversationRow, 'updatedAt' | 'conversation'> | null; limit: number },
    ): Promise<ListedConversation[]> {
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
      return rows.map(fromColumns);
    },

    /** The newest turns of those that began before the sequence number `before`, oldest first. */
    async turns(
      ref: ConversationRef,
      { before, limit }: { before: number | null; limit: number },
    ): Promise<BegunTurn[]> {
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

    /** The turn that was accepted and has not begun; at most one. */
    async starting(ref: ConversationRef): Promise<Pick<BegunTurn, 'turnId' | 'given'>[]> {
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
 * What clients sent to begin these turns, without the messages of agents and tools. The condition has only the turn:
 * otherwise SQLite reads the whole conversation to sort it.
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

export const conversationColumns = [
  'tenant',
  'conversation',
  'user_id',
  'service',
  'agent',
  'created_at',
  'updated_at',
] as const;

const selectOwn = compileOnce((query, ref: ConversationRef) =>
  selectIn(query, ref).where('delegation', 'is', null).compile(),
);
const selectDelegated = compileOnce((query, ref: ConversationRef & { turnId: string; delegation: string }) =>
  selectIn(query, ref).where('turn_id', '=', ref.turnId).where('delegation', '=', ref.delegation).compile(),
);

function selectIn(query: Kysely<Tables>, ref: ConversationRef) {
  return query
    .selectFrom('messages')
    .select(['id', 'turn_id', 'role', 'content', 'left_out'])
    .where(isConversation(ref))
    .orderBy('position');
}

export function createMessages({ query }: Database) {
  return {
    /**
     * The conversation's messages in order, of begun turns only. For a delegation: the delegated agent's own messages, which
     * are not among the conversation's.
     */
    async list(ref: ConversationRef | TurnRef): Promise<StoredMessage[]> {
      const { rows } =
        'turnId' in ref && ref.delegation
          ? await selectDelegated(query, { ...ref, delegation: columnOf(ref) ?? '' })
          : await selectOwn(query, ref);
      return rows.map(({ id, turn_id, role, content, left_out }) => ({
        id,
        turnId: turn_id,
        role,
        content: contentFromRow(content),
        ...(left_out !== null && { leftOut: left_out }),
      }));
    },
  };
}
