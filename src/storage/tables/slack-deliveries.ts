/** Answers that are shown in Slack. Their text is in the turn's log only: here are places, lengths and digests. */
import { sql } from 'kysely';
import type { Selectable, Transaction } from 'kysely';
import type { TurnRef } from '../../turn/turn.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';
import type { SlackMessageRow } from '../schema/slack-tables.ts';

/** Where the answer to a turn is shown, and the Slack user who asked. */
export interface NewSlackDelivery {
  turn: Pick<TurnRef, 'tenant' | 'conversation' | 'turnId'>;
  team: string;
  channel: string;
  threadTs: string;
  slackUser: string;
}

export interface SlackDelivery extends NewSlackDelivery {
  streams: boolean;
}

export function createSlackDeliveries({ query, now }: Database) {
  /** In one transaction with the check that this holder may still write. */
  const whileHeld = (
    turnId: string,
    holder: string,
    work: (write: Transaction<Tables>) => Promise<unknown>,
  ): Promise<boolean> =>
    query.transaction().execute(async (write) => {
      const held = await write
        .updateTable('slack_deliveries')
        .set({ holder })
        .where('turn_id', '=', turnId)
        .where('holder', '=', holder)
        .executeTakeFirst();
      if (held.numUpdatedRows === 0n) return false;
      await work(write);
      return true;
    });

  return {
    /** A no-op if the turn has one. */
    async begin({ turn, team, channel, threadTs, slackUser }: NewSlackDelivery): Promise<void> {
      await query
        .insertInto('slack_deliveries')
        .values({
          turn_id: turn.turnId,
          tenant: turn.tenant,
          conversation: turn.conversation,
          team,
          channel,
          thread_ts: threadTs,
          slack_user: slackUser,
          streams: 1,
          holder: '',
          number: sql<number>`(select coalesce(max(number), 0) + 1 from slack_deliveries
            where tenant = ${turn.tenant} and conversation = ${turn.conversation})`,
          held_at: now(),
          is_over: 0,
        })
        .onConflict((same) => same.column('turn_id').doNothing())
        .execute();
    },
    async get(turnId: string): Promise<SlackDelivery | null> {
      const row = await query
        .selectFrom('slack_deliveries')
        .selectAll()
        .where('turn_id', '=', turnId)
        .executeTakeFirst();
      return row ? toDelivery(row) : null;
    },
    /** Takes it over from its earlier holder, who cannot write any more. */
    async hold(turnId: string, holder: string): Promise<void> {
      await query
        .updateTable('slack_deliveries')
        .set({ holder, held_at: now() })
        .where('turn_id', '=', turnId)
        .execute();
    },
    /** Everything is shown. Later answers of the conversation may follow. */
    async end(turnId: string): Promise<void> {
      await query.updateTable('slack_deliveries').set({ is_over: 1 }).where('turn_id', '=', turnId).execute();
    },
    /**
     * Turns whose answers come before it in the thread and are not complete, first one first. Leaves out those that no
     * attempt has held for `deadMs`: their workflows are gone.
     */
    async earlier(turnId: string, deadMs: number): Promise<string[]> {
      const rows = await query
        .selectFrom('slack_deliveries as own')
        .innerJoin('slack_deliveries as earlier', (join) =>
          join
            .onRef('earlier.tenant', '=', 'own.tenant')
            .onRef('earlier.conversation', '=', 'own.conversation')
            .onRef('earlier.number', '<', 'own.number'),
        )
        .select('earlier.turn_id')
        .where('own.turn_id', '=', turnId)
        .where('earlier.is_over', '=', 0)
        .where('earlier.held_at', '>', now() - deadMs)
        .orderBy('earlier.number')
        .execute();
      return rows.map((row) => row.turn_id);
    },
    /** Slack does not stream there; messages are edited as they grow. */
    async stopStreaming(turnId: string): Promise<void> {
      await query.updateTable('slack_deliveries').set({ streams: 0 }).where('turn_id', '=', turnId).execute();
    },
    /** In their order. */
    async messages(turnId: string): Promise<SlackMessageRow[]> {
      const rows = await query
        .selectFrom('slack_messages')
        .selectAll()
        .where('turn_id', '=', turnId)
        .orderBy('number')
        .execute();
      return rows.map(toMessage);
    },
    /** Inserts or replaces the message's row. False: the delivery has another holder, and nothing was written. */
    put(holder: string, message: SlackMessageRow): Promise<boolean> {
      const row = toRow(message);
      return whileHeld(message.turnId, holder, (write) =>
        write
          .insertInto('slack_messages')
          .values(row)
          .onConflict((same) => same.columns(['turn_id', 'number']).doUpdateSet(row))
          .execute(),
      );
    },
    /** It is not in Slack, or not any more. False as with `put`. */
    drop: (
      holder: string,
      { turnId, number }: Pick<SlackMessageRow, 'turnId' | 'number'>,
    ): Promise<boolean> =>
      whileHeld(turnId, holder, (write) =>
        write
          .deleteFrom('slack_messages')
          .where('turn_id', '=', turnId)
          .where('number', '=', number)
          .execute(),
      ),
    /** Whether one of our messages is there. */
    async isOurs({ team, channel, ts }: { team: string; channel: string; ts: string }): Promise<boolean> {
      const row = await query
        .selectFrom('slack_messages')
        .select('number')
        .where('team', '=', team)
        .where('channel', '=', channel)
        .where('ts', '=', ts)
        .executeTakeFirst();
      return row !== undefined;
    },
    /** Null: it is not shown yet. */
    async ofQuestion(elicitationId: string): Promise<SlackMessageRow | null> {
      const row = await query
        .selectFrom('slack_messages')
        .selectAll()
        .where('subject', '=', elicitationId)
        .where('kind', '=', 'question')
        .executeTakeFirst();
      return row ? toMessage(row) : null;
    },
  };
}

function toDelivery(row: Selectable<Tables['slack_deliveries']>): SlackDelivery {
  const { turn_id: turnId, tenant, conversation, team, channel, streams } = row;
  return {
    turn: { tenant, conversation, turnId },
    team,
    channel,
    threadTs: row.thread_ts,
    slackUser: row.slack_user,
    streams: streams === 1,
  };
}

function toRow(message: SlackMessageRow): Selectable<Tables['slack_messages']> {
  const { turnId, isSure, isOpen, isStream, startedAt, ...same } = message;
  return {
    ...same,
    turn_id: turnId,
    is_sure: isSure ? 1 : 0,
    is_open: isOpen ? 1 : 0,
    is_stream: isStream ? 1 : 0,
    started_at: startedAt,
  };
}

function toMessage(row: Selectable<Tables['slack_messages']>): SlackMessageRow {
  const { turn_id: turnId, is_sure, is_open, is_stream, started_at: startedAt, ...same } = row;
  return {
    ...same,
    turnId,
    isSure: is_sure === 1,
    isOpen: is_open === 1,
    isStream: is_stream === 1,
    startedAt,
  };
}
