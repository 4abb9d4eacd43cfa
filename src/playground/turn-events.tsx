/** What a conversation's turns do, as the feed tells it, and where operators see the same. */
import { useEffect, useRef, useState } from 'react';
import type { Client } from '../client/client.ts';
import type { FeedItem } from '../client/follow-feed.ts';
import { elapsed, inOneLine } from './in-one-line.ts';

interface Props {
  client: Client;
  conversation: string | undefined;
  temporalUi: string | null;
}

export function TurnEvents({ client, conversation, temporalUi }: Props) {
  const [items, setItems] = useState<FeedItem[]>([]);
  const end = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (conversation === undefined) return undefined;
    const leaving = new AbortController();
    void follow(client, conversation, leaving.signal, (item) => setItems((before) => [...before, item]));
    return () => leaving.abort();
  }, [client, conversation]);
  useEffect(() => end.current?.scrollIntoView({ block: 'nearest' }), [items]);
  let start = '';
  const shown = items.flatMap(({ event, seq }) => {
    const line = inOneLine(event);
    const at = String(event['at']);
    if (event.type === 'turn-started') start = at;
    return line ? [{ ...line, seq, at, since: elapsed(start, at) }] : [];
  });
  const workflow = `turn/demo/${conversation}`;
  return (
    <aside aria-label="What the turn does">
      <header>
        <h2>Behind the scenes</h2>
        {temporalUi !== null && conversation !== undefined && (
          <a
            href={`${temporalUi}/namespaces/default/workflows/${encodeURIComponent(workflow)}`}
            target="_blank"
            rel="noopener"
          >
            Open in Temporal
          </a>
        )}
      </header>
      {shown.length === 0 && (
        <p className="empty">
          Say something: every event of the turn appears here as it is written down, with the time since the
          turn began.
        </p>
      )}
      {shown.length > 0 && (
        <ol tabIndex={0} aria-label="Events">
          {shown.map(({ seq, type, text, tone, at, since }, index) => (
            <li
              key={`${seq} ${index}`}
              className={`${tone} ${type === 'turn-started' ? 'first' : ''}`}
              ref={index === shown.length - 1 ? end : null}
            >
              <time dateTime={at}>{since}</time>
              <div>
                <code>{type}</code> <span>{text}</span>
              </div>
            </li>
          ))}
        </ol>
      )}
    </aside>
  );
}

async function follow(
  client: Client,
  conversation: string,
  signal: AbortSignal,
  see: (item: FeedItem) => void,
) {
  try {
    for await (const item of client.events(conversation, { operations: true, signal })) see(item);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
