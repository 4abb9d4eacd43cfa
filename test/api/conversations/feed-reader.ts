/** Reads the feed as it comes over the wire: every event with the id it came under, and everything else that was sent. */
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { createWaiting } from '../../waiting.ts';
import type { StreamEvent } from '@interlude-ai/core/contract/stream-event.ts';

export interface FeedEvent {
  /** As a number, or null for an event without an id of its own. */
  id: number | null;
  event: StreamEvent;
}

export type FeedReader = Awaited<ReturnType<typeof openFeed>>;

export async function openFeed(url: string, headers: Record<string, string>) {
  const abort = new AbortController();
  const response = await fetch(url, { headers, signal: abort.signal });
  const events: FeedEvent[] = [];
  const positions: string[] = [];
  const waiting = createWaiting();

  const reading = (async () => {
    const parser = new EventSourceParserStream({ onId: (id) => positions.push(id) });
    const stream = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(parser);
    for await (const { id, data, event: name } of stream ?? []) {
      if (name !== undefined) throw new Error(`the event is named ${name}`);
      if (id !== undefined) positions.pop();
      events.push({ id: id === undefined ? null : Number(id), event: JSON.parse(data) as StreamEvent });
      waiting.wake();
    }
  })().finally(() => waiting.end(() => new Error(`the stream ended before: ${JSON.stringify(events)}`)));
  reading.catch(() => undefined);

  return {
    response,
    events,
    /** Positions that were given without an event. */
    positions,
    /** All events up to the first that fits, seen or to come; rejects when the stream ends before. */
    upTo: (fits: (event: StreamEvent) => boolean) =>
      waiting.until(() => {
        const index = events.findIndex(({ event }) => fits(event));
        return index !== -1 && events.slice(0, index + 1);
      }),
    /** Everything it said, once it has ended without being closed here. */
    async ended() {
      await reading;
      return events;
    },
    close: () => abort.abort(),
  };
}

export const isEnd = ({ type }: StreamEvent): boolean => type === 'turn-ended';
