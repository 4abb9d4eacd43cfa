import type { TurnRef } from '../../turn/turn.ts';
import { conversationColumns, toConversationRow } from './conversation-rows.ts';
import { isConversation } from '../log/append.ts';
import { insertAudit } from './audit.ts';
import { claimDueTurns } from './due-turns.ts';
import type { AuditEntry } from '../ports/audit.ts';
import type { StoredMessage } from '../ports/conversations.ts';
import type { Turns } from '../ports/turns.ts';
import { fromJson } from '../schema.ts';
import type { Database } from '../database.ts';
import { listTurns } from './turn-list.ts';
import { announceSettled, startingOver } from './settling.ts';
import { beginEnd, endTurn } from './turn-end.ts';
import { NotPrepared, beginTurn, prepareTurn, withdrawTurn } from './turn-lifecycle.ts';
import { selectTurns, toTurn } from './turn-rows.ts';

export function createTurns(database: Database): Turns {
  const { query, notifications, endings, now } = database;

  async function stop(turn: TurnRef, isOwn: boolean, audit?: AuditEntry): Promise<boolean> {
    const settled = await query.transaction().execute(async (write) => {
      const done = await beginEnd(write, turn, { isOwn, now: now() });
      if (done && audit) await insertAudit(write, audit);
      return done;
    });
    endings.announce(turn);
    if (settled) announceSettled(database, settled);
    return settled !== null;
  }

  return {
    async conversation(ref) {
      const row = await query
        .selectFrom('conversations')
        .select(conversationColumns)
        .where(isConversation(ref))
        .executeTakeFirst();
      return row ? toConversationRow(row) : null;
    },
    async prepare(turn, replacing, deployment) {
      const preparing = { turn, replacing, deployment };
      try {
        const { buildId, replaced } = await startingOver(query, (write) =>
          prepareTurn(write, preparing, now()),
        );
        if (!replaced) return { kind: 'prepared', buildId };
        notifications.announce(turn);
        endings.announce(replaced.turn);
        announceSettled(database, replaced);
        return { kind: 'prepared', buildId, replaced: replaced.turn };
      } catch (error) {
        if (error instanceof NotPrepared) return error.why;
        throw error;
      }
    },
    async begin(turn) {
      const isBegun = await query.transaction().execute((write) => beginTurn(write, turn, now()));
      if (isBegun) notifications.announce(turn);
      return isBegun;
    },
    withdraw: (turn) => query.transaction().execute((write) => withdrawTurn(write, turn)),
    cancel: (turn, audit) => stop(turn, false, audit),
    async announceEnd(turn) {
      await stop(turn, true);
    },
    whenEnding: (turn, signal) => endings.when(turn, signal),
    async end(turn, status, ending = {}) {
      const done = await query.transaction().execute(async (write) => {
        const ended = await endTurn(write, turn, status, ending, now());
        if (ended && ending.audit) await insertAudit(write, ending.audit);
        return ended;
      });
      if (!done) return null;
      const { ended, marks } = done;
      notifications.announce(turn);
      if (ending.isOwn !== true) endings.announce(turn);
      announceSettled(database, { questions: ended?.questions ?? [], marks });
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
