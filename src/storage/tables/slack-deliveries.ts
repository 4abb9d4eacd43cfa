/** Answers that are shown in Slack. Their text is in the turn's log only: here are places, lengths and digests. */
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { TurnRef } from '../../turn/turn.ts';
import { fromColumns, toColumns } from '../columns.ts';
import type { Database } from '../database.ts';
import { deleteRows, findRow, findRows, updateRows, upsert } from '../statements.ts';
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
      const isHeld = await updateRows(write, 'slack_deliveries', { turn_id: turnId, holder }, { holder });
      if (isHeld === 0) return false;
      await work(write);
      return true;
    });

  return {
    /** A no-op if the turn has one. */
    async begin({ turn: { tenant, conversation, turnId }, ...where }: NewSlackDelivery): Promise<void> {
      const { team, channel, threadTs, slackUser } = where;
      await query
        .insertInto('slack_deliveries')
        .values({
          ...toColumns({ tenant, conversation, turnId, team, channel, threadTs, slackUser }),
          streams: 1,
          holder: '',
          number: sql<number>`(select coalesce(max(number), 0) + 1 from slack_deliveries
            where tenant = ${tenant} and conversation = ${conversation})`,
          held_at: now(),
          is_over: 0,
        })
        .onConflict((same) => same.column('turn_id').doNothing())
        .execute();
    },
    async get(turnId: string): Promise<SlackDelivery | null> {
      const row = await findRow(query, 'slack_deliveries', { turn_id: turnId });
      if (!row) return null;
      const { tenant, conversation, team, channel, threadTs, slackUser, streams } = fromColumns(row);
      return {
        turn: { tenant, conversation, turnId },
        team,
        channel,
        threadTs,
        slackUser,
        streams: streams === 1,
      };
    },
    /** Takes it over from its earlier holder, who cannot write any more. */
    async hold(turnId: string, holder: string): Promise<void> {
      await updateRows(query, 'slack_deliveries', { turn_id: turnId }, { holder, held_at: now() });
    },
    /** Everything is shown. Later answers of the conversation may follow. */
    async end(turnId: string): Promise<void> {
      await updateRows(query, 'slack_deliveries', { turn_id: turnId }, { is_over: 1 });
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
        .where(({ and }) => and({ 'own.turn_id': turnId, 'earlier.is_over': 0 }))
        .where('earlier.held_at', '>', now() - deadMs)
        .orderBy('earlier.number')
        .execute();
      return rows.map((row) => row.turn_id);
    },
    /** Slack does not stream there; messages are edited as they grow. */
    async stopStreaming(turnId: string): Promise<void> {
      await updateRows(query, 'slack_deliveries', { turn_id: turnId }, { streams: 0 });
    },
    /** In their order. */
    async messages(turnId: string): Promise<SlackMessageRow[]> {
      return (await findRows(query, 'slack_messages', { turn_id: turnId }, 'number')).map(fromColumns);
    },
    /** Inserts or replaces the message's row. False: the delivery has another holder, and nothing was written. */
    put(holder: string, { turnId, number, ...message }: SlackMessageRow): Promise<boolean> {
      return whileHeld(turnId, holder, (write) =>
        upsert(write, 'slack_messages', { turn_id: turnId, number }, toColumns(message)),
      );
    },
    /** It is not in Slack, or not any more. False as with `put`. */
    drop: (
      holder: string,
      { turnId, number }: Pick<SlackMessageRow, 'turnId' | 'number'>,
    ): Promise<boolean> =>
      whileHeld(turnId, holder, (write) => deleteRows(write, 'slack_messages', { turn_id: turnId, number })),
    /** Whether one of our messages is there. */
    async isOurs({ team, channel, ts }: { team: string; channel: string; ts: string }): Promise<boolean> {
      return (await findRow(query, 'slack_messages', { team, channel, ts })) !== undefined;
    },
    /** Null: it is not shown yet. */
    async ofQuestion(elicitationId: string): Promise<SlackMessageRow | null> {
      const row = await findRow(query, 'slack_messages', { subject: elicitationId, kind: 'question' });
      return row ? fromColumns(row) : null;
    },
  };
}
