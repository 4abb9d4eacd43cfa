import { sql } from 'kysely';
import { fromColumns, toColumns } from '../columns.ts';
import type { Fields } from '../columns.ts';
import { isPostgres } from '../database.ts';
import type { Database } from '../database.ts';
import type { Row } from '../schema.ts';
import type { SlackPerson } from '../schema/slack-tables.ts';
import { insertNew } from '../statements.ts';

export type SlackEvent = Omit<Fields<Row<'slack_events'>>, 'isParked' | 'dueAt'>;
export type NewSlackEvent = Omit<SlackEvent, 'receivedAt' | 'tries'>;
export type SlackEventKey = Pick<SlackEvent, 'team' | 'eventId'>;

export function createSlackEvents({ query, now }: Database) {
  const change = ({ team, eventId }: SlackEventKey) =>
    query.updateTable('slack_events').where('team', '=', team).where('event_id', '=', eventId);
  async function addAll(events: NewSlackEvent[]): Promise<number> {
    const at = now();
    const rows = events.map(({ team, eventId, slackUser, lane, ts, sealed }) => ({
      ...toColumns({ team, eventId, slackUser, lane, ts, sealed, isParked: false, tries: 0 }),
      due_at: at,
      received_at: at,
    }));
    return insertNew(query, 'slack_events', rows, ['team', 'event_id']);
  }

  return {
    /** False: it is known from an earlier delivery. */
    add: async (event: NewSlackEvent): Promise<boolean> => (await addAll([event])) > 0,
    /** As `add`, for some hundreds in one statement. Returns the number of new ones. */
    addAll,
    /**
     * Leases due events, oldest first, and none whose lane has an older one: what one person says in one thread is handled in
     * order, over all processes.
     */
    async claim(limit: number, leaseMs: number): Promise<SlackEvent[]> {
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
              .$if(isPostgres(query), (rows) => rows.forNoKeyUpdate().skipLocked())
              .$asTuple('team', 'event_id'),
          ),
        )
        .returningAll()
        .execute();
      return rows.map(({ is_parked: _, due_at: _dueAt, ...event }) => fromColumns(event));
    },
    async renew(events: SlackEventKey[], leaseMs: number): Promise<void> {
      for (const event of events)
        await change(event)
          .set({ due_at: now() + leaseMs })
          .where('due_at', 'is not', null)
          .execute();
    },
    /** Due again after this time. */
    async postpone(event: SlackEventKey, ms: number): Promise<void> {
      await change(event)
        .set({ due_at: now() + ms })
        .execute();
    },
    /** Not due until its sender is linked. */
    async park(event: SlackEventKey): Promise<void> {
      await change(event).set({ due_at: null, is_parked: 1 }).execute();
    },
    /** Whether a parked event is in this lane. */
    async waitsInLane({ team, lane }: { team: string; lane: string }): Promise<boolean> {
      const row = await query
        .selectFrom('slack_events')
        .select('event_id')
        .where(({ and }) => and({ team, lane, is_parked: 1 }))
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },
    /** This person's parked events, received since then, become due. Returns their number. */
    async unpark({ team, slackUser }: SlackPerson, since: number): Promise<number> {
      const { numUpdatedRows } = await query
        .updateTable('slack_events')
        .set({ due_at: now(), is_parked: 0 })
        .where(({ and }) => and({ team, slack_user: slackUser, is_parked: 1 }))
        .where('received_at', '>=', since)
        .executeTakeFirst();
      return Number(numUpdatedRows);
    },
    /** Keeps only its id. */
    async finish(event: SlackEventKey): Promise<void> {
      await change(event).set({ due_at: null, is_parked: 0, sealed: '' }).execute();
    },
    /** Deletes events received before then, which are not sent again. */
    async forget(before: number): Promise<void> {
      await query.deleteFrom('slack_events').where('received_at', '<', before).execute();
    },
  };
}
