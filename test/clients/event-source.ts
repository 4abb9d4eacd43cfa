/** The standard reader of server-sent events, as a browser has it, which comes back by itself when it is cut off. */
import { EventSource } from 'eventsource';
import type { StreamEvent } from '../../src/contract/stream-event.ts';

export interface EventSourceReader {
  /** Every message as it arrived, also what arrived twice. */
  events: StreamEvent[];
  /** How often it was cut off. */
  readonly cuts: number;
  /** What it sent to be told only what it had not seen, request by request. */
  positions: (string | null)[];
  /** Resolves with the first event that fits, seen or to come. */
  until(fits: (event: StreamEvent) => boolean): Promise<StreamEvent>;
  /** Resolves when it has been cut off. */
  cutOff(): Promise<void>;
  close(): void;
}

/** `EventSource` cannot set headers; a `fetch` of one's own can. */
export function listen(url: string, authorization: string): EventSourceReader {
  const events: StreamEvent[] = [];
  const positions: (string | null)[] = [];
  const waiting = new Set<() => void>();
  let cuts = 0;
  const source = new EventSource(url, {
    fetch(input, init) {
      const headers = new Headers(init.headers);
      positions.push(headers.get('last-event-id'));
      headers.set('authorization', authorization);
      return fetch(input, { ...init, headers });
    },
  });
  source.addEventListener('message', ({ data }) => {
    events.push(JSON.parse(data as string) as StreamEvent);
    for (const look of waiting) look();
  });
  source.addEventListener('error', () => (cuts += 1));

  return {
    events,
    positions,
    get cuts() {
      return cuts;
    },
    until: (fits) =>
      new Promise((resolve) => {
        const look = () => {
          const found = events.find(fits);
          if (!found) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    cutOff: () =>
      cuts > 0
        ? Promise.resolve()
        : new Promise((resolve) => source.addEventListener('error', () => resolve(), { once: true })),
    close: () => source.close(),
  };
}
