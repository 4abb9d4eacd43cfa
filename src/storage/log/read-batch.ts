/** Reads the turn log piece by piece: never more at once than a reader that stops reading may hold in memory. */
import { sql } from 'kysely';
import type { Kysely, Selectable } from 'kysely';
import type { LogEntry, TurnEvent } from '../../turn/event.ts';
import type { ConversationRef } from '../../turn/turn.ts';
import { compileOnce } from '../compile-once.ts';
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

type Row = Pick<Selectable<Tables['turn_events']>, 'seq' | 'turn_id' | 'event' | 'at'>;

/** Of the sizes only the column's length is asked, for which neither database reads a long text. */
const selectBatch = compileOnce((query, from: ConversationRef & BatchBounds & { after: number }) => {
  const { tenant, conversation, after, entries, bytes } = from;
  return sql<Row>`
    select seq, turn_id, event, at from turn_events
    where tenant = ${tenant} and conversation = ${conversation} and seq > ${after} and seq <= (
      select coalesce(max(seq), 0) from (
        select seq, bytes, sum(bytes) over (order by seq rows unbounded preceding) as total from (
          select seq, octet_length(event) as bytes from turn_events
          where tenant = ${tenant} and conversation = ${conversation} and seq > ${after}
          order by seq limit ${entries}
        ) as sizes
      ) as running
      where total - bytes < ${bytes}
    )
    order by seq`.compile(query);
});

export function createReadBatch(query: Kysely<Tables>, bounds: BatchBounds = defaultBounds): ReadBatch {
  return async ({ tenant, conversation }, after) => {
    const { rows } = await selectBatch(query, { tenant, conversation, after, ...bounds });
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
