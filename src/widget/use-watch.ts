import { useEffect } from 'react';
import type { Client } from '../client/client.ts';

interface Watch {
  client: Client;
  conversationId: string;
  /** 0: not yet. Another number begins anew. */
  watch: number;
  /** Resolves with where the feed goes on, `null` where there is none. */
  read: (signal: AbortSignal) => Promise<number | null>;
  /** A turn was begun or ended, wherever that was. */
  onTurn: (turnId: string, signal: AbortSignal) => Promise<void>;
}

/** As long as somebody looks at the page; whoever comes back to it, from wherever, begins with what was said meanwhile. */
export function useWatch({ client, conversationId, watch, read, onTurn }: Watch): void {
  useEffect(() => {
    if (watch === 0) return undefined;
    let leaving = new AbortController();

    async function follow({ signal }: AbortController) {
      const after = await read(signal);
      if (after === null) return;
      try {
        for await (const { event } of client.events(conversationId, { after, signal }))
          if (event.type === 'turn-started' || event.type === 'turn-ended')
            await onTurn(event.turnId, signal);
      } catch {
        // Refused, or left: whoever looks next tries again.
      }
    }
    function looked() {
      leaving.abort();
      leaving = new AbortController();
      if (!document.hidden) void follow(leaving);
    }

    looked();
    const listening = new AbortController();
    for (const [place, news] of [
      [document, 'visibilitychange'],
      [document, 'resume'],
      [window, 'pageshow'],
      [window, 'online'],
    ] as const)
      place.addEventListener(news, looked, { signal: listening.signal });
    return () => {
      leaving.abort();
      listening.abort();
    };
  }, [client, conversationId, watch, read, onTurn]);
}
