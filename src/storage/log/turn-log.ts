import type { Logger } from 'pino';
import type { LogEntry } from '../../turn/event.ts';
import type { ConversationRef, TurnRef } from '../../turn/turn.ts';
import { chunks, isConversation, writeToConversation } from './append.ts';
import { dueAfter } from '../tables/turn-rows.ts';
import { eventFromRow } from './coded-rows.ts';
import { createFollow, createReadBatch } from './tail.ts';
import { mergeDeltas, remainder } from './merged-deltas.ts';
import { isOneOf, isPostgres } from '../database.ts';
import type { Database } from '../database.ts';
import type { Row } from '../schema.ts';
import { aboutTurn } from '../../platform/telemetry/events.ts';
import type { NewEvent } from './append.ts';

export type TurnLog = ReturnType<typeof createTurnLog>;

export function createTurnLog(database: Database, mergeQueue: MergeQueue, logger: Logger) {
  const { query, notifications } = database;

  /**
   * Entries with `seq > after`, oldest first. A cursor inside a merged delta gets the rest of that delta (same `seq` as the
   * merged row), no more and no less.
   */
  const read = async (ref: ConversationRef, after: number, limit?: number): Promise<LogEntry[]> => {
    const rows = await query
      .selectFrom('turn_events')
      .select(['seq', 'turn_id', 'event', 'at'])
      .where(isConversation(ref))
      .where('seq', '>', after)
      .orderBy('seq')
      .$if(limit !== undefined, (select) => select.limit(limit ?? 0))
      .execute();
    return rows.map((row) => toLogEntry(row, after));
  };

  /** The sequence number of the newest entry; 0: none. */
  const latest = async (ref: ConversationRef): Promise<number> => {
    const row = await query
      .selectFrom('conversations')
      .select('last_seq')
      .where(isConversation(ref))
      .executeTakeFirst();
    return row?.last_seq ?? 0;
  };

  const seqOf = async ({ turnId }: TurnRef, key: string): Promise<number | null> => {
    const row = await query
      .selectFrom('turn_events')
      .select('seq')
      .where(({ and }) => and({ turn_id: turnId, key }))
      .executeTakeFirst();
    return row?.seq ?? null;
  };

  return {
    /**
     * Appends in order, in one transaction, and wakes followers after the commit. Sequence numbers have no gaps. A `reset-step`
     * deletes, in the same transaction, the earlier entries of its step.
     */
    async append(turn: TurnRef, events: NewEvent[]): Promise<void> {
      if (events.length === 0) return;
      const now = database.now();
      await query.transaction().execute((write) => writeToConversation(write, turn, { events }, now));
      notifications.announce(turn);
    },
    read,
    /**
     * Batches of entries as they come, never empty, without gaps or repetitions. Ends only when `signal` aborts. Woken by an
     * in-process signal or LISTEN/NOTIFY, with a slow poll as a safety net.
     */
    follow: createFollow({
      readBatch: createReadBatch(query),
      latest,
      notifications,
      logger,
      now: database.now,
    }),
    latest,
    /** The sequence number just before the turn's first event; null: it has none yet. */
    async startOf(turn: TurnRef): Promise<number | null> {
      // By its key: sorting a long turn's events would cost every reader.
      const started = await seqOf(turn, 'turn-started');
      return started === null ? null : started - 1;
    },
    /** The sequence number of the turn's last event; null: it has not ended. */
    endOf: (turn: TurnRef): Promise<number | null> => seqOf(turn, 'turn-ended'),
    /** Merges each run of deltas of one part into its last row. Once is enough. */
    merge: (turn: TurnRef): Promise<void> => mergeTurn(database, turn),
    /**
     * As `merge`, one turn after another, in the background; `close` waits for it. A merge that fails, or is lost with its
     * process, is repeated when the turn is claimed as due.
     */
    mergeLater: (turn: TurnRef): void => mergeQueue.add(turn),
  };
}

type StoredEvent = Pick<Row<'turn_events'>, 'seq' | 'turn_id' | 'event' | 'at'>;

/** The event as seen by a reader that has read everything up to `after`. */
export function toLogEntry({ seq, turn_id: turnId, event, at }: StoredEvent, after = 0): LogEntry {
  return { seq, turnId, at, event: remainder(eventFromRow(event), after) };
}

export async function mergeTurn({ query }: Database, turn: TurnRef): Promise<void> {
  const { tenant, conversation, turnId } = turn;
  await query.transaction().execute(async (write) => {
    // Serialises merges of one turn.
    const lock = write.selectFrom('turns').select('turn_id').where('turn_id', '=', turnId);
    if (isPostgres(write)) await lock.forNoKeyUpdate().execute();
    const rows = await write
      .selectFrom('turn_events')
      .select(['seq', 'key', 'event', 'at'])
      .where('turn_id', '=', turnId)
      .orderBy('seq')
      .execute();
    const known = new Map(rows.map((row) => [row.seq, row]));
    const { replaced, removed } = mergeDeltas(
      rows.map(({ seq, event }) => ({ seq, event: eventFromRow(event) })),
    );
    if (removed.length > 0)
      await write
        .deleteFrom('turn_events')
        .where(isConversation(turn))
        .where(isOneOf(write, 'seq', removed))
        .execute();
    const values = replaced.map(({ seq, event }) => ({
      tenant,
      conversation,
      seq,
      turn_id: turnId,
      key: known.get(seq)?.key ?? '',
      event: JSON.stringify(event),
      at: known.get(seq)?.at ?? 0,
    }));
    for (const chunk of chunks(values)) {
      await write
        .insertInto('turn_events')
        .values(chunk)
        .onConflict((conflict) =>
          conflict
            .columns(['tenant', 'conversation', 'seq'])
            .doUpdateSet((row) => ({ event: row.ref('excluded.event') })),
        )
        .execute();
    }
    // A turn that has not ended is merged again later.
    await write
      .updateTable('turns')
      .set(dueAfter.merge)
      .where('turn_id', '=', turnId)
      .where('ended_at', 'is not', null)
      .execute();
  });
}

/** Merges ended turns one at a time, so that a burst of endings leaves the database to others. */
export interface MergeQueue {
  add(turn: TurnRef): void;
  /** Resolves when everything that was added has been merged, or its merge has failed. */
  settled(): Promise<void>;
}

export function createMergeQueue(merge: (turn: TurnRef) => Promise<void>, logger: Logger): MergeQueue {
  let merging = Promise.resolve();
  return {
    add(turn) {
      merging = merging
        .then(() => merge(turn))
        .catch((error: unknown) =>
          logger.warn({ ...aboutTurn(turn), err: error }, 'a turn is not merged yet'),
        );
    },
    settled: () => merging,
  };
}
