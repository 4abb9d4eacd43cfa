/** What a conversation's turns do, as the feed tells it, and where operators see the same. */
import { useMemo, useRef } from 'react';
import type { Client } from '../client/client.ts';
import type { FeedItem } from '../client/follow-feed.ts';
import { timelineRows } from '../timeline/markup.ts';
import { timelineOf } from '../timeline/timeline.ts';
import type { LogEntry, TurnEvent } from '../turn/event.ts';
import { turnWorkflowId } from '../turn/turn.ts';
import { useStickToEnd } from '../widget/use-stick-to-end.ts';
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
  const rows = useMemo(() => timelineRows(timelineOf(items.map(toEntry), { contents: true })), [items]);
  const turnId = items.at(-1)?.event['turnId'];
  return (
    <aside aria-label="What the turn does">
      <header>
        <h2>Behind the scenes</h2>
        {temporalUi !== null && conversation !== undefined && typeof turnId === 'string' && (
          <a href={workflowUrl(temporalUi, conversation, turnId)} target="_blank" rel="noopener">
            Open in Temporal
          </a>
        )}
      </header>
      {rows.length === 0 && problem === null && (
        <p className="empty">Say something: what the turn does appears here, with the time since it began.</p>
      )}
      {rows.length > 0 && <Rows rows={rows} />}
      {problem !== null && (
        <p className="empty" role="alert">
          {problem} <TryAgain onPress={retry} />
        </p>
      )}
    </aside>
  );
}

/** The feed has the events of the log, with the time in ISO 8601. */
function toEntry({ seq, event }: FeedItem): LogEntry {
  const { turnId, at } = event;
  return { seq, turnId: String(turnId), at: Date.parse(String(at)), event: event as unknown as TurnEvent };
}

function workflowUrl(temporalUi: string, conversation: string, turnId: string): string {
  const workflow = turnWorkflowId({ tenant: 'demo', conversation, turnId });
  return `${temporalUi}/namespaces/default/workflows/${encodeURIComponent(workflow)}`;
}

function Rows({ rows }: { rows: ReturnType<typeof timelineRows> }) {
  const list = useRef<HTMLOListElement>(null);
  useStickToEnd(list, rows.length);
  return (
    <ol tabIndex={0} aria-label="Events" className="timeline" ref={list}>
      {rows.map(({ id, className, body }) => (
        // Escaped by construction: see html/html.ts.
        <li key={id} className={className} dangerouslySetInnerHTML={{ __html: body.markup }} />
      ))}
    </ol>
  );
}
