/**
 * Follows the feed of a conversation, across turns, from a position: every connection goes on after the last event
 * that came whole, so nothing is missing and nothing comes twice.
 */
import type { StreamEvent } from '../contract/stream-event.ts';
import { parseObject } from './interlude-error.ts';
import { readMessages } from './read-chunks.ts';
import { reconnecting, streamOf } from './reconnect.ts';
import type { ReadOptions, Reconnect } from './reconnect.ts';

export interface EventsOptions extends ReadOptions {
  /** From where to go on: the `seq` of the last event that was taken care of, or `latest` for what is new; from the beginning unless given. */
  after?: number | 'latest';
  /** Adds events of type `data-operation`, each before the event it describes. */
  operations?: boolean;
}

export interface FeedItem {
  /** A position to go on after. An operation has that of the event before it. */
  seq: number;
  /** Types that are not named here may come, and are to be ignored. */
  event: StreamEvent;
}

interface FollowFeed extends Omit<Reconnect, 'connect'> {
  after: EventsOptions['after'];
  connect: (after: EventsOptions['after'], signal: AbortSignal) => Promise<Response>;
}

export async function* followFeed(feed: FollowFeed): AsyncGenerator<FeedItem, void> {
  let { after } = feed;
  const connect = (signal: AbortSignal) => feed.connect(after, signal);
  yield* reconnecting({ ...feed, connect }, async function* (response, { alive, advanced }) {
    // What has no position of its own belongs to the next event that has one, and comes again with it after a cut.
    let held: StreamEvent[] = [];
    for await (const { id, data } of readMessages(streamOf(response), alive)) {
      const event = parseObject(data ?? '');
      if (isEvent(event)) held.push(event);
      const seq = positionIn(id);
      if (seq === null) continue;
      const items = held.map((one, index) => ({ seq: index < held.length - 1 ? seq - 1 : seq, event: one }));
      held = [];
      if (typeof after === 'number' && seq <= after) continue;
      advanced();
      yield* items;
      after = seq;
    }
    return 'cut';
  });
}

function positionIn(id: string | undefined): number | null {
  return id !== undefined && /^\d{1,15}$/.test(id) ? Number(id) : null;
}

function isEvent(value: Record<string, unknown>): value is StreamEvent {
  return typeof value['type'] === 'string';
}
