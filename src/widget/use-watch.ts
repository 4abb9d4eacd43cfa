import { useEffect } from 'react';
import type { Client } from '../client/client.ts';

interface Watch {
  client: Client;
  conversationId: string;
  /** There is something to watch, and nothing here that tells of itself. */
  isOn: boolean;
  /** Resolves with where the feed goes on, `null` where there is none. */
  read: (signal: AbortSignal) => Promise<number | null>;
}

/**
 * As long as somebody looks at the page, what was said is read, and read again when a turn begins or ends elsewhere.
 * Whoever comes back to the page, from wherever, begins with reading. One connection, and none while nobody looks.
 */
export function useWatch({ client, conversationId, isOn, read }: Watch): void {
  useEffect(() => {
    if (!isOn) return undefined;
    let leaving = new AbortController();

    async function watch({ signal }: AbortController) {
      try {
        for (;;) {
          const after = await read(signal);
          if (after === null) return;
          await nextTurn(client.events(conversationId, { after, signal }));
        }
      } catch {
        // Refused, or left: whoever looks next tries again.
      }
    }
    function looked() {
      leaving.abort();
      leaving = new AbortController();
      if (!document.hidden) void watch(leaving);
    }

    looked();
    const listening = new AbortController();
    for (const [place, eventName] of [
      [document, 'visibilitychange'],
      [document, 'resume'],
      [window, 'pageshow'],
      [window, 'online'],
    ] as const)
      place.addEventListener(eventName, looked, { signal: listening.signal });
    return () => {
      leaving.abort();
      listening.abort();
    };
  }, [client, conversationId, isOn, read]);
}

/** Resolves when a turn has begun or ended. */
async function nextTurn(feed: ReturnType<Client['events']>): Promise<void> {
  for await (const { event } of feed)
    if (event.type === 'turn-started' || event.type === 'turn-ended') return;
}
