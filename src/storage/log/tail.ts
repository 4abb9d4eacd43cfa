/**
 * The newest part of one conversation's log, read once for all its followers in this process: a window that grows
 * while somebody waits at its end, and loses its beginning when everybody has read it or when it becomes too large.
 * A follower behind the window reads for itself until it has caught up.
 *
 * The window holds every entry with `base < seq <= head`, save the void text of repeated model calls. Merging cannot tear
 * it: what was read before a merge stays as it was, and what is read after it begins where the window ends.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { LogEntry } from '../../turn/event.ts';
import type { ConversationRef } from '../../turn/turn.ts';
import { logFollowed } from '../../telemetry/metrics/instruments.ts';
import { withoutVoidItems } from '../../turn/void-text.ts';
import { defaultBounds, seenFrom } from './read-batch.ts';
import type { Batch, BatchBounds, StoredEntry } from './read-batch.ts';
import type { Notifications } from '../notifications/notifications.ts';

export interface TailParts {
  readBatch: (ref: ConversationRef, after: number) => Promise<Batch>;
  latest: (ref: ConversationRef) => Promise<number>;
  notifications: Notifications;
  logger: Logger;
  /** By the clock that events are dated by. */
  now: () => number;
  /** What is kept for followers that lag behind. */
  keep?: BatchBounds;
}

export interface Tail {
  join(after: number): Follower;
}

export interface Follower {
  /** Waits for the database, too, until `signal` aborts. Undefined when there is nothing to wait for any more. */
  next(signal: AbortSignal): Promise<LogEntry[] | undefined>;
  leave(): void;
}

const defaultKeep: BatchBounds = { entries: 1_000, bytes: 8 * defaultBounds.bytes };
const firstRetryMs = 100;
const lastRetryMs = 5_000;

/** `onEnd`: the last follower has left; the tail must not be joined again. */
export function openTail(ref: ConversationRef, parts: TailParts, onEnd: () => void): Tail {
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
    if (fresh.some(({ entry }) => entry.event.type === 'reset-step'))
      window = withoutVoidItems(window, ({ entry }) => entry);
    for (const place of places) if (place.cursor < head) lagging.add(place);
    forget();
  }

  /** What has to go to make room; what is new stays, so that whoever waited for it finds it. */
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
    // Nothing there: what lay between has been deleted.
    move(place, entries.at(-1)?.seq ?? upTo);
    return entries;
  }

  /** Until it works, or nobody waits for it any more. */
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
