/** Reads the turn log piece by piece: never more at once than a reader that stops reading may hold in memory. */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { LogEntry, TurnEvent } from '../../turn/event.ts';
import type { ConversationRef } from '../../turn/turn.ts';
import { isConversation } from './append.ts';
import { remainder } from './merged-deltas.ts';
import { fromJson } from '../schema.ts';
import type { Tables } from '../schema.ts';

/** The entry that reaches one of them is the last. */
export interface BatchBounds {
  entries: number;
  bytes: number;
}

export const defaultBounds: BatchBounds = { entries: 500, bytes: 65_536 };

/** An entry as it is stored: a merged delta still knows its parts. */
export interface StoredEntry {
  entry: LogEntry;
  /** The cursor it was read from: what lies before is of no concern to whoever takes it. */
  readFrom: number;
  bytes: number;
}

export interface Batch {
  entries: StoredEntry[];
  /** Whether the log had no more to give. */
  isEnd: boolean;
}

export type ReadBatch = (ref: ConversationRef, after: number) => Promise<Batch>;

export function createReadBatch(query: Kysely<Tables>, bounds: BatchBounds = defaultBounds): ReadBatch {
  return async (ref, after) => {
    const sizes = query
      .selectFrom('turn_events')
      // Of the column's size alone: neither database reads a long text for it.
      .select(['seq', sql<number>`octet_length(event)`.as('bytes')])
      .where(isConversation(ref))
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(bounds.entries);
    const running = query
      .selectFrom(sizes.as('sizes'))
      .select(['seq', 'bytes'])
      .select(sql<number>`sum(bytes) over (order by seq rows unbounded preceding)`.as('total'));
    const last = query
      .selectFrom(running.as('running'))
      .where(sql<boolean>`total - bytes < ${bounds.bytes}`)
      .select(({ fn }) => fn.coalesce(fn.max('seq'), sql<number>`0`).as('seq'));
    const rows = await query
      .selectFrom('turn_events')
      .select(['seq', 'turn_id', 'event', 'at'])
      .where(isConversation(ref))
      .where('seq', '>', after)
      .where('seq', '<=', last)
      .orderBy('seq')
      .execute();
    const entries = rows.map(({ seq, turn_id: turnId, event, at }) => ({
      entry: { seq, turnId, at, event: fromJson<TurnEvent>(event) },
      readFrom: after,
      bytes: Buffer.byteLength(event),
    }));
    const total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
    return { entries, isEnd: entries.length < bounds.entries && total < bounds.bytes };
  };
}

/** As somebody sees it who has read everything up to `cursor`. */
export function seenFrom({ entry, readFrom }: StoredEntry, cursor: number): LogEntry {
  const event = remainder(entry.event, Math.max(cursor, readFrom));
  return event === entry.event ? entry : { ...entry, event };
}
