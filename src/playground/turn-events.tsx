/** What a conversation's turns do, as the feed tells it, and where operators see the same. */
import { useRef } from 'react';
import type { Client } from '../client/client.ts';
import { useStickToEnd } from '../widget/use-stick-to-end.ts';
import { elapsed, inOneLine } from './in-one-line.ts';
import type { Line } from './in-one-line.ts';
import { TryAgain } from './try-again.tsx';
import { useTurnEvents } from './use-turn-events.ts';

interface Props {
  client: Client;
  /** One that the service knows. */
  conversation: string | undefined;
  /** Counts the changes of the conversation; the log is read on when there is another one. */
  changes: number;
  temporalUi: string | null;
}

export function TurnEvents({ client, conversation, changes, temporalUi }: Props) {
  const { items, problem, retry } = useTurnEvents({ client, conversation, changes });
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
      {shown.length === 0 && problem === null && (
        <p className="empty">
          Say something: every event of the turn appears here as it is written down, with the time since the
          turn began.
        </p>
      )}
      {shown.length > 0 && <Lines lines={shown} />}
      {problem !== null && (
        <p className="empty" role="alert">
          {problem} <TryAgain onPress={retry} />
        </p>
      )}
    </aside>
  );
}

interface Shown extends Line {
  seq: number;
  at: string;
  since: string;
}

function Lines({ lines }: { lines: Shown[] }) {
  const list = useRef<HTMLOListElement>(null);
  useStickToEnd(list, lines.length);
  return (
    <ol tabIndex={0} aria-label="Events" ref={list}>
      {lines.map(({ seq, type, text, tone, at, since }, index) => (
        <li key={`${seq} ${index}`} className={`${tone} ${type === 'turn-started' ? 'first' : ''}`}>
          <time dateTime={at}>{since}</time>
          <div>
            <code>{type}</code> <span>{text}</span>
          </div>
        </li>
      ))}
    </ol>
  );
}
