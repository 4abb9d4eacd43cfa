import { sql } from 'kysely';
import type { Database } from '../database.ts';
import type { NewSlackEvent, SlackEventKey, SlackEvents } from '../ports/slack.ts';

export function createSlackEvents({ kind, query, now }: Database): SlackEvents {
  const change = ({ team, eventId }: SlackEventKey) =>
    query.updateTable('slack_events').where('team', '=', team).where('event_id', '=', eventId);
  async function addAll(events: NewSlackEvent[]): Promise<number> {
    const at = now();
    const rows = events.map(({ team, eventId, slackUser, lane, ts, sealed }) => ({
      team,
      event_id: eventId,
      slack_user: slackUser,
      lane,
      ts,
      sealed,
      is_parked: 0,
      due_at: at,
      tries: 0,
      received_at: at,
    }));
    const added = await query
      .insertInto('slack_events')
      .values(rows)
      .onConflict((same) => same.columns(['team', 'event_id']).doNothing())
      .returning('event_id')
      .execute();
    return added.length;
  }

  return {
    add: async (event) => (await addAll([event])) > 0,
    addAll,
    async claim(limit, leaseMs) {
      const at = now();
      const rows = await query
        .updateTable('slack_events')
        .set({ due_at: at + leaseMs, tries: sql`tries + 1` })
        .where(({ eb, refTuple, selectFrom }) =>
          eb(
            refTuple('team', 'event_id'),
            'in',
            selectFrom('slack_events as due')
              .select(['due.team', 'due.event_id'])
              .where('due.due_at', '<=', at)
              .where(
                sql<boolean>`not exists (
                select 1 from slack_events as older
                where older.team = due.team and older.lane = due.lane and older.due_at is not null
                  and (older.ts, older.event_id) < (due.ts, due.event_id)
              )`,
              )
              .orderBy('due.received_at')
              .limit(limit)
              // SQLite's writers never meet.
              .$if(kind === 'postgres', (rows) => rows.forNoKeyUpdate().skipLocked())
              .$asTuple('team', 'event_id'),
          ),
        )
        .returningAll()
        .execute();
      return rows.map((row) => ({
        team: row.team,
        eventId: row.event_id,
        slackUser: row.slack_user,
        lane: row.lane,
        ts: row.ts,
        sealed: row.sealed,
        receivedAt: row.received_at,
        tries: row.tries,
      }));
    },
    async renew(events, leaseMs) {
      for (const event of events)
        await change(event)
          .set({ due_at: now() + leaseMs })
          .where('due_at', 'is not', null)
          .execute();
    },
    async postpone(event, ms) {
      await change(event)
        .set({ due_at: now() + ms })
        .execute();
    },
    async park(event) {
      await change(event).set({ due_at: null, is_parked: 1 }).execute();
    },
    async waitsInLane({ team, lane }) {
      const row = await query
        .selectFrom('slack_events')
        .select('event_id')
        .where('team', '=', team)
        .where('lane', '=', lane)
        .where('is_parked', '=', 1)
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },
    async unpark({ team, slackUser }, since) {
      const { numUpdatedRows } = await query
        .updateTable('slack_events')
        .set({ due_at: now(), is_parked: 0 })
        .where('team', '=', team)
        .where('slack_user', '=', slackUser)
        .where('is_parked', '=', 1)
        .where('received_at', '>=', since)
        .executeTakeFirst();
      return Number(numUpdatedRows);
    },
    async finish(event) {
      await change(event).set({ due_at: null, is_parked: 0, sealed: '' }).execute();
    },
    async forget(before) {
      await query.deleteFrom('slack_events').where('received_at', '<', before).execute();
    },
  };
}
