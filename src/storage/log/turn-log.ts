import type { Selectable } from 'kysely';
import type { Logger } from 'pino';
import type { LogEntry, TurnEvent } from '../../turn/event.ts';
import type { ConversationRef, TurnRef } from '../../turn/turn.ts';
import { chunks, isConversation, writeToConversation } from './append.ts';
import { dueAfter } from '../tables/due-turns.ts';
import { createFollow } from './follow.ts';
import { createReadBatch } from './read-batch.ts';
import { mergeDeltas, remainder } from './merged-deltas.ts';
import type { MergeQueue } from './merge-queue.ts';
import type { TurnLog } from '../ports/turn-log.ts';
import { fromJson } from '../schema.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';

export function createTurnLog(database: Database, mergeQueue: MergeQueue, logger: Logger): TurnLog {
  const { query, notifications } = database;

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
      .where('turn_id', '=', turnId)
      .where('key', '=', key)
      .executeTakeFirst();
    return row?.seq ?? null;
  };

  return {
    async append(turn, events) {
      if (events.length === 0) return;
      const now = database.now();
      await query.transaction().execute((write) => writeToConversation(write, turn, { events }, now));
      notifications.announce(turn);
    },
    read,
    follow: createFollow({
      readBatch: createReadBatch(query),
      latest,
      notifications,
      logger,
      now: database.now,
    }),
    latest,
    // By their keys: sorting a long turn's events for its first or last would cost every reader.
    async startOf(turn) {
      const started = await seqOf(turn, 'turn-started');
      return started === null ? null : started - 1;
    },
    endOf: (turn) => seqOf(turn, 'turn-ended'),
    merge: (turn) => mergeTurn(database, turn),
    mergeLater: (turn) => mergeQueue.add(turn),
  };
}

type Row = Pick<Selectable<Tables['turn_events']>, 'seq' | 'turn_id' | 'event' | 'at'>;

/** As somebody sees it who has read everything up to `after`. */
export function toLogEntry({ seq, turn_id: turnId, event, at }: Row, after = 0): LogEntry {
  return { seq, turnId, at, event: remainder(fromJson<TurnEvent>(event), after) };
}

export async function mergeTurn({ query, kind }: Database, turn: TurnRef): Promise<void> {
  const { tenant, conversation, turnId } = turn;
  await query.transaction().execute(async (write) => {
    // Two merges of one turn take turns; SQLite's transactions do so anyway.
    const lock = write.selectFrom('turns').select('turn_id').where('turn_id', '=', turnId);
    if (kind === 'postgres') await lock.forNoKeyUpdate().execute();
    const rows = await write
      .selectFrom('turn_events')
      .select(['seq', 'key', 'event', 'at'])
      .where('turn_id', '=', turnId)
      .orderBy('seq')
      .execute();
    const known = new Map(rows.map((row) => [row.seq, row]));
    const { replaced, removed } = mergeDeltas(
      rows.map(({ seq, event }) => ({ seq, event: fromJson<TurnEvent>(event) })),
    );
    for (const seqs of chunks(removed)) {
      await write.deleteFrom('turn_events').where(isConversation(turn)).where('seq', 'in', seqs).execute();
    }
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
    // Whoever merges a turn that goes on will merge it again.
    await write
      .updateTable('turns')
      .set(dueAfter.merge)
      .where('turn_id', '=', turnId)
      .where('ended_at', 'is not', null)
      .execute();
  });
}
