import { conversationColumns, toConversationRow } from './conversation-rows.ts';
import { isConversation } from '../log/append.ts';
import { claimDueTurns } from './due-turns.ts';
import type { StoredMessage } from '../ports/conversations.ts';
import type { Turns } from '../ports/turns.ts';
import { fromJson } from '../schema.ts';
import type { Database } from '../database.ts';
import { listTurns } from './turn-list.ts';
import { endTurn } from './turn-end.ts';
import { NoVersion, beginTurn, prepareTurn, withdrawTurn } from './turn-lifecycle.ts';
import { selectTurns, toTurn } from './turn-rows.ts';

export function createTurns(database: Database): Turns {
  const { query, notifications, endings, questions, now } = database;
  return {
    async conversation(ref) {
      const row = await query
        .selectFrom('conversations')
        .select(conversationColumns)
        .where(isConversation(ref))
        .executeTakeFirst();
      return row ? toConversationRow(row) : null;
    },
    prepare: (turn, deployment) =>
      query
        .transaction()
        .execute((write) => prepareTurn(write, { turn, deployment }, now()))
        .catch((error: unknown) => {
          if (error instanceof NoVersion) return 'no-version' as const;
          throw error;
        }),
    async begin(turn) {
      const begun = await query.transaction().execute((write) => beginTurn(write, turn, now()));
      if (!begun) return false;
      notifications.announce(turn);
      for (const question of begun.closed) questions.settled(question);
      return true;
    },
    withdraw: (turn) => query.transaction().execute((write) => withdrawTurn(write, turn)),
    async announceEnd(turn) {
      await query
        .updateTable('turns')
        .set({ ending_at: now() })
        .where('turn_id', '=', turn.turnId)
        .where('ending_at', 'is', null)
        .execute();
      endings.announce(turn);
    },
    whenEnding: (turn, signal) => endings.when(turn, signal),
    async end(turn, status, ending = {}) {
      const ended = await query.transaction().execute((write) => endTurn(write, turn, status, ending, now()));
      if (!ended) return null;
      notifications.announce(turn);
      for (const question of ended.questions) questions.settled(question);
      return ended;
    },
    claimDue: (limit, againMs) => claimDueTurns(database, limit, againMs),
    claimOverdue: (limit, againMs, longestMs) => claimDueTurns(database, limit, againMs, longestMs),
    async get({ tenant, conversation, turnId }) {
      const row = await selectTurns(query, { tenant, conversation })
        .where('turns.turn_id', '=', turnId)
        .executeTakeFirst();
      return row ? toTurn(row) : null;
    },
    async find({ tenant, turnId }) {
      const row = await selectTurns(query, { tenant }).where('turns.turn_id', '=', turnId).executeTakeFirst();
      return row ? toTurn(row) : null;
    },
    list: (owner, filter, page) => listTurns(query, owner, filter, page),
    async live(ref) {
      const row = await selectTurns(query, ref)
        .where('status', '=', 'running')
        .orderBy('created_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row ? toTurn(row) : null;
    },
    async byClientMessage(ref, clientMessageId) {
      const row = await selectTurns(query, ref)
        .where('client_message_id', '=', clientMessageId)
        .executeTakeFirst();
      return row ? toTurn(row) : null;
    },
    async given({ tenant, conversation, turnId, clientMessageId: id }) {
      const said = await query
        .selectFrom('messages')
        .select('content')
        .where(isConversation({ tenant, conversation }))
        .where('id', '=', id)
        .executeTakeFirst();
      if (said) return fromJson(said.content);
      const row = await query
        .selectFrom('turns')
        .select('staged')
        .where('turn_id', '=', turnId)
        .executeTakeFirst();
      const staged = fromJson<Omit<StoredMessage, 'turnId'>[]>(row?.staged ?? '[]');
      return staged.find((message) => message.id === id)?.content ?? null;
    },
  };
}
