import type { ConversationRef, TurnEndStatus, TurnOwner, TurnRef } from '../../turn/turn.ts';
import type { AuditEntry } from '../schema/question-tables.ts';
import type { ConversationRow } from './conversations.ts';
import type { StoredMessage } from '../schema/turn-tables.ts';
import { conversationColumns } from './conversations.ts';
import { fromColumns } from '../columns.ts';
import { isConversation } from '../log/append.ts';
import { insertAudit } from './audit.ts';
import { claimDueTurns, listTurns, selectTurns, toTurn } from './turn-rows.ts';
import { fromJson } from '../schema.ts';
import type { Database } from '../database.ts';
import { announceSettled, startingOver } from './settling.ts';
import { beginEnd, endTurn } from './turn-end.ts';
import { NotPrepared, beginTurn, prepareTurn, withdrawTurn } from './turn-lifecycle.ts';
import type { TurnRow, TurnFilter, TurnPosition, DueTurn } from './turn-rows.ts';
import type { Ended, Ending } from './turn-end.ts';
import type { NewTurn, Prepared, Replacing, StartLimits } from './turn-lifecycle.ts';

export interface StartingTurns {
  turns: number;
  ofTenant: ReadonlyMap<string, number>;
  /** Other tenants have conversations. False if no turns are starting. */
  areTenantsSeveral: boolean;
}

export function createTurns(database: Database) {
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
    async conversation(ref: ConversationRef): Promise<ConversationRow | null> {
      const row = await query
        .selectFrom('conversations')
        .select(conversationColumns)
        .where(isConversation(ref))
        .executeTakeFirst();
      return row ? fromColumns(row) : null;
    },
    /**
     * Writes the turn as `starting`, with its messages staged, and their images, in one transaction; creates the conversation
     * row if it is new. Only the result `prepared` writes anything. Readers see nothing yet.
     *
     * A conversation has one live turn. The existing one makes room, ended as `superseded`, when it only waits for people: at
     * least one call is unfinished, every innermost unfinished call has a pending question, every accepted answer was acted on,
     * and no model step and no effect is under way (storage/tables/superseding.ts).
     *
     * The turn starts with the current version of `deployment`; without a deployment it has none.
     */
    async prepare(
      turn: NewTurn,
      replacing: Replacing,
      deployment?: string,
      limits: StartLimits = {},
    ): Promise<Prepared> {
      const preparing = { turn, replacing, deployment, limits };
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
    /**
     * `starting` → `running`: the messages enter the conversation and `turn-started` enters the log, in one transaction. On a
     * running turn: true, nothing changes. False when it was withdrawn or has ended.
     */
    async begin(turn: TurnRef): Promise<boolean> {
      const isBegun = await query.transaction().execute((write) => beginTurn(write, turn, now()));
      if (isBegun) notifications.announce(turn);
      return isBegun;
    },
    /** `starting` → deleted. False when the workflow had already begun it, or it has ended. */
    withdraw: (turn: TurnRef): Promise<boolean> =>
      query.transaction().execute((write) => withdrawTurn(write, turn)),
    /**
     * Asks the turn to stop: settles its open questions as `cancel` and queues the cancellation of its workflow, in one
     * transaction with the audit entry; processes that work for it are notified. Its workflow writes the end. False: it was not
     * live.
     */
    cancel: (turn: TurnRef, audit?: AuditEntry): Promise<boolean> => stop(turn, false, audit),
    /** As `cancel`, called by the turn's own workflow: its cancellation is not queued. */
    async announceEnd(turn: TurnRef): Promise<void> {
      await stop(turn, true);
    },
    /** True as soon as the turn is ending or has ended; false when `signal` aborts first. Never rejects. */
    whenEnding: (turn: TurnRef, signal: AbortSignal): Promise<boolean> => endings.when(turn, signal),
    /**
     * Finishes the turn's calls, closes open questions as `cancel`, marks accepted answers that were not acted on as unused,
     * and writes the terminal event and status, in one transaction; the first end counts. Unless `isOwn`, queues the
     * cancellation of its workflow. If servers may keep calls open, queues abandoning them; their rounds stay until then. Null
     * when there was nothing to end, or the turn had not begun, so its log has no end.
     */
    async end(turn: TurnRef, status: TurnEndStatus, ending: Ending = {}): Promise<Ended | null> {
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
    /**
     * Turns to look after, longest due first: running ones that may have lost their workflow, and ended ones that may not be
     * merged. They are leased for `againMs`; merging a turn takes it off the list.
     */
    claimDue: (limit: number, againMs: number): Promise<DueTurn[]> => claimDueTurns(database, limit, againMs),
    /** The turns that no worker has begun, counted up to `most`. */
    async starting(most: number): Promise<StartingTurns> {
      const some = query.selectFrom('turns').select('tenant').where('status', '=', 'starting').limit(most);
      const tenants = await query
        .selectFrom(some.as('some'))
        .select(({ fn, selectFrom }) => [
          'tenant',
          fn.countAll().as('turns'),
          selectFrom('conversations')
            .select(({ fn: of }) => of.min('tenant').as('first'))
            .as('first'),
          selectFrom('conversations')
            .select(({ fn: of }) => of.max('tenant').as('last'))
            .as('last'),
        ])
        .groupBy('tenant')
        .execute();
      const ofTenant = new Map(tenants.map(({ tenant, turns }) => [tenant, Number(turns)]));
      return {
        turns: [...ofTenant.values()].reduce((sum, turns) => sum + turns, 0),
        ofTenant,
        areTenantsSeveral: tenants.some(({ first, last }) => first !== last),
      };
    },
    /** As `claimDue`, for turns that have not ended within `longestMs`. */
    claimOverdue: (limit: number, againMs: number, longestMs: number): Promise<DueTurn[]> =>
      claimDueTurns(database, limit, againMs, longestMs),
    async get({ tenant, conversation, turnId }: TurnRef): Promise<TurnRow | null> {
      const row = await selectTurns(query, { tenant, conversation })
        .where('turns.turn_id', '=', turnId)
        .executeTakeFirst();
      return row ? toTurn(row) : null;
    },
    /** In any conversation. */
    async find({ tenant, turnId }: Pick<TurnRef, 'tenant' | 'turnId'>): Promise<TurnRow | null> {
      const row = await selectTurns(query, { tenant }).where('turns.turn_id', '=', turnId).executeTakeFirst();
      return row ? toTurn(row) : null;
    },
    /** Last changed first: by their end, or their beginning while they run. `total`: the number on all pages. */
    list: (
      owner: TurnOwner,
      filter: TurnFilter,
      page: { after: TurnPosition | null; limit: number },
    ): Promise<{ rows: TurnRow[]; total: number }> => listTurns(query, owner, filter, page),
    /** The conversation's running turn; null: it is idle. */
    async live(ref: ConversationRef): Promise<TurnRow | null> {
      const row = await selectTurns(query, ref)
        .where('status', '=', 'running')
        .orderBy('created_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row ? toTurn(row) : null;
    },
    /** The turn that this client message started in the conversation, in any state. */
    async byClientMessage(ref: ConversationRef, clientMessageId: string): Promise<TurnRow | null> {
      const row = await selectTurns(query, ref)
        .where('client_message_id', '=', clientMessageId)
        .executeTakeFirst();
      return row ? toTurn(row) : null;
    },
    /** Content of the message that the turn began with, also before it has begun; null when it was withdrawn. */
    async given(turn: TurnRef & Pick<TurnRow, 'clientMessageId'>): Promise<unknown> {
      const { turnId, clientMessageId: id } = turn;
      const said = await query
        .selectFrom('messages')
        .select('content')
        .where(isConversation(turn))
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
