import { useCallback, useEffect, useRef, useState } from 'react';
import type { Client } from '../client/client.ts';
import type { FeedItem } from '../client/follow-feed.ts';
import { wordsOf } from '../widget/failure.ts';
import { followTurns } from './follow-turns.ts';
import type { FollowedTurns } from './follow-turns.ts';

interface Options {
  client: Client;
  /** One that the service knows. */
  conversation: string | undefined;
  /** Counts the changes of the conversation; the log is read on when there is another one. */
  changes: number;
}

export interface TurnEvents {
  /** All but what was said, which the conversation shows. */
  items: FeedItem[];
  problem: string | null;
  retry(): void;
}

/** As long as somebody looks at the page. */
export function useTurnEvents({ client, conversation, changes }: Options): TurnEvents {
  const [items, setItems] = useState<FeedItem[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const turns = useRef<FollowedTurns>(undefined);

  const looked = useCallback(() => {
    if (document.hidden) return turns.current?.leave();
    setProblem(null);
    turns.current?.wake();
  }, []);

  useEffect(() => {
    if (conversation === undefined) return undefined;
    let arrived: FeedItem[] = [];
    let frame = 0;
    // A long conversation comes all at once, and is drawn at once.
    function draw() {
      const more = arrived;
      arrived = [];
      frame = 0;
      setItems((before) => [...before, ...more]);
    }
    turns.current = followTurns({
      client,
      conversation,
      see(item) {
        if (/^(?:text|reasoning)-/.test(item.event.type)) return;
        arrived.push(item);
        frame ||= requestAnimationFrame(draw);
      },
      fail: (error) => setProblem(wordsOf(error)),
    });
    looked();
    document.addEventListener('visibilitychange', looked);
    addEventListener('online', looked);
    return () => {
      document.removeEventListener('visibilitychange', looked);
      removeEventListener('online', looked);
      cancelAnimationFrame(frame);
      turns.current?.leave();
      turns.current = undefined;
    };
  }, [client, conversation, looked]);
  useEffect(looked, [looked, changes]);

  return { items, problem, retry: looked };
}
