/**
 * The newest part of a conversation's log, read once for all its followers in this process: a window that grows while a
 * follower waits at its end, and loses its beginning when all followers have read it, or when it becomes too large. A
 * follower behind the window reads for itself until it has caught up.
 *
 * The window holds every entry with `base < seq <= head`, except the void text of repeated model calls. Merging does not
 * affect it: what was read before a merge stays as it was, and what is read after it begins where the window ends.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { keyOfStep } from '../../turn/event.ts';
import type { LogEntry } from '../../turn/event.ts';
import type { ConversationRef } from '../../turn/turn.ts';
import { compileOnce } from '../database.ts';
import { keyOf } from './append.ts';
import { eventFromRow } from './coded-rows.ts';
import { remainder } from './merged-deltas.ts';
import type { Row, Tables } from '../schema.ts';
import { logFollowed } from '../../platform/telemetry/metrics/instruments.ts';
import type { Notifications } from '../notifications/notifications.ts';
import { unlessAborted } from '../notifications/notifications.ts';

/** The entry that reaches a bound is the last one of the batch. */
export interface BatchBounds {
  entries: number;
  bytes: number;
}

const defaultBounds: BatchBounds = { entries: 500, bytes: 65_536 };

/** An entry as stored: a merged delta has its parts. */
interface StoredEntry {
  entry: LogEntry;
  key: string;
  /** The cursor of the read. Parts before it may be missing. */
  readFrom: number;
  bytes: number;
}

interface Batch {
  entries: StoredEntry[];
  /** Whether the batch reaches the end of the log. */
  isEnd: boolean;
}

export type ReadBatch = (ref: ConversationRef, after: number) => Promise<Batch>;

type StoredEvent = Pick<Row<'turn_events'>, 'seq' | 'turn_id' | 'key' | 'event' | 'at'>;

/**
 * Limits a batch to what a slow reader may hold in memory. Needs only the length of the column, for which neither database
 * reads a long text.
 */
const selectBatch = compileOnce((query, from: ConversationRef & BatchBounds & { after: number }) => {
  const { tenant, conversation, after, entries, bytes } = from;
  return sql<StoredEvent>`
    select seq, turn_id, key, event, at from turn_events
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
    const entries = rows.map(({ seq, turn_id: turnId, key, event, at }) => ({
      entry: { seq, turnId, at, event: eventFromRow(event) },
      key,
      readFrom: after,
      bytes: Buffer.byteLength(event),
    }));
    const total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
    return { entries, isEnd: entries.length < bounds.entries && total < bounds.bytes };
  };
}

/** The entry as seen by a reader that has read everything up to `cursor`. */
function seenFrom({ entry, readFrom }: StoredEntry, cursor: number): LogEntry {
  const event = remainder(entry.event, Math.max(cursor, readFrom));
  return event === entry.event ? entry : { ...entry, event };
}

/** Deletes from entries in memory what the log deleted when it wrote this one: see `removeVoidText`. */
function withoutVoidText(entries: StoredEntry[], { seq, turnId, event }: LogEntry): StoredEntry[] {
  if (event.type !== 'reset-step') return entries;
  const said = keyOf(event.parentToolCallId, keyOfStep(event.step));
  return entries.filter(
    ({ entry, key }) => entry.seq > seq || entry.turnId !== turnId || !key.startsWith(said),
  );
}

interface TailParts {
  readBatch: (ref: ConversationRef, after: number) => Promise<Batch>;
  latest: (ref: ConversationRef) => Promise<number>;
  notifications: Notifications;
  logger: Logger;
  /** The clock of the events' times. */
  now: () => number;
  /** How much is kept for followers that lag behind. */
  keep?: BatchBounds;
}

interface Tail {
  join(after: number): Follower;
}

export interface Follower {
  /** Also waits while the database is away, until `signal` aborts. Undefined when there is nothing to wait for any more. */
  next(signal: AbortSignal): Promise<LogEntry[] | undefined>;
  leave(): void;
}

const defaultKeep: BatchBounds = { entries: 1_000, bytes: 8 * defaultBounds.bytes };
const firstRetryMs = 100;
const lastRetryMs = 5_000;

/** `onEnd`: the last follower has left; the tail must not be joined again. */
function openTail(ref: ConversationRef, parts: TailParts, onEnd: () => void): Tail {
  const { readBatch, latest, notifications, logger, now, keep = defaultKeep } = parts;
  const subscription = notifications.subscribe(ref);
  const ended = new AbortController();
  const places = new Set<{ cursor: number }>();
  const lagging = new Set<{ cursor: number }>();
  let window: StoredEntry[] = [];
  let base = 0;
  let head = 0;
  let isAtEnd = false;
  let growing: Promise<void> | undefined;

  const opened = persistently(ended.signal, async () => {
    base = await latest(ref);
    head = base;
  });

  async function grow(): Promise<void> {
    const isFollowing = isAtEnd;
    if (isFollowing) await subscription.notified();
    subscription.reset();
    const batch = await persistently(ended.signal, () => readBatch(ref, head));
    if (!batch) return;
    isAtEnd = batch.isEnd;
    const [oldest] = batch.entries;
    if (isFollowing && oldest) logFollowed(now() - oldest.entry.at);
    push(batch.entries);
  }

  function push(fresh: StoredEntry[]): void {
    window = [...trimmed(window, fresh), ...fresh];
    head = window.at(-1)?.entry.seq ?? head;
    for (const { entry } of fresh) window = withoutVoidText(window, entry);
    for (const place of places) if (place.cursor < head) lagging.add(place);
    forget();
  }

  /** Drops old entries to make room. New ones stay, because followers are waiting for them. */
  function trimmed(old: StoredEntry[], fresh: StoredEntry[]): StoredEntry[] {
    let entries = old.length + fresh.length;
    let bytes = sizeOf(old) + sizeOf(fresh);
    let gone = 0;
    for (const { entry, bytes: size } of old) {
      if (entries <= keep.entries && bytes <= keep.bytes) break;
      entries -= 1;
      bytes -= size;
      gone += 1;
      base = entry.seq;
    }
    return old.slice(gone);
  }

  function forget(): void {
    if (lagging.size > 0) return;
    window = [];
    base = head;
  }

  function move(place: { cursor: number }, cursor: number): void {
    place.cursor = cursor;
    if (cursor >= head && lagging.delete(place)) forget();
  }

  function take(place: { cursor: number }): LogEntry[] {
    const after = place.cursor;
    const start = window.findLastIndex(({ entry }) => entry.seq <= after) + 1;
    let bytes = 0;
    let end = start;
    while (end < window.length && end - start < defaultBounds.entries && bytes < defaultBounds.bytes)
      bytes += window[end++]?.bytes ?? 0;
    const taken = window.slice(start, end).map((stored) => seenFrom(stored, after));
    move(place, taken.at(-1)?.seq ?? after);
    return taken;
  }

  async function catchUp(place: { cursor: number }, signal: AbortSignal): Promise<LogEntry[]> {
    const { cursor } = place;
    const upTo = base;
    const batch = await persistently(signal, () => readBatch(ref, cursor));
    if (!batch) return [];
    const entries = batch.entries.map((stored) => seenFrom(stored, cursor));
    // The entries in between have been deleted.
    move(place, entries.at(-1)?.seq ?? upTo);
    return entries;
  }

  /** Retries until it works or its result is not needed any more. */
  async function persistently<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
    for (let retryMs = firstRetryMs; !signal.aborted && !notifications.closed; retryMs *= 2) {
      try {
        return await work();
      } catch (error) {
        if (signal.aborted || notifications.closed) break;
        const { tenant, conversation } = ref;
        logger.warn({ err: error, tenant, conversation }, 'cannot read the turn log; trying again');
        await sleep(Math.min(retryMs, lastRetryMs), undefined, { signal }).catch(() => undefined);
      }
    }
    return undefined;
  }

  return {
    join(after) {
      const place = { cursor: after };
      places.add(place);
      if (after < head) lagging.add(place);
      return {
        async next(signal) {
          await opened;
          while (!signal.aborted && !notifications.closed) {
            const entries = place.cursor < base ? await catchUp(place, signal) : take(place);
            if (entries.length > 0) return entries;
            if (place.cursor < base) continue;
            growing ??= grow().finally(() => (growing = undefined));
            await growing;
          }
          return undefined;
        },
        leave() {
          places.delete(place);
          if (lagging.delete(place)) forget();
          if (places.size > 0) return;
          ended.abort();
          subscription.close();
          onEnd();
        },
      };
    },
  };
}

function sizeOf(entries: StoredEntry[]): number {
  return entries.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Follows logs. The readers of a conversation share one tail. While the database is away, streams stay open. */
export function createFollow(
  parts: TailParts,
): (conversation: ConversationRef, after: number, signal: AbortSignal) => AsyncIterable<LogEntry[]> {
  const tails = new Map<string, Tail>();

  function tailOf(ref: ConversationRef): Tail {
    const name = JSON.stringify([ref.tenant, ref.conversation]);
    const tail = tails.get(name) ?? openTail(ref, parts, () => tails.delete(name));
    tails.set(name, tail);
    return tail;
  }

  return async function* follow(ref, after, signal): AsyncGenerator<LogEntry[]> {
    if (signal.aborted) return;
    const follower = tailOf(ref).join(after);
    try {
      for (;;) {
        const entries = await unlessAborted(follower.next(signal), signal);
        if (!entries || signal.aborted) return;
        yield entries;
      }
    } finally {
      follower.leave();
    }
  };
}
