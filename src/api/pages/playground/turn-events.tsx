/** What the turns of a conversation do, read from its feed, with a link to the workflow in Temporal's UI. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Client } from '@interlude-ai/client/client.ts';
import type { FeedItem } from '@interlude-ai/client/follow.ts';
import { timelineRows } from '../timeline-markup.ts';
import { timelineOf } from '../../../turn/timeline/timeline.ts';
import type { LogEntry, TurnEvent } from '../../../turn/event.ts';
import { turnWorkflowId } from '../../../turn/turn.ts';
import { useStickToEnd } from '@interlude-ai/widget/stay-in-place.ts';
import { wordsOf } from '@interlude-ai/widget/use-history.ts';
import { followTurns } from './follow-turns.ts';
import type { FollowedTurns } from './follow-turns.ts';
import { words } from './words.ts';

interface Props {
  client: Client;
  /** Undefined until the service has stored it. */
  conversation: string | undefined;
  /** A counter; each change makes the feed be read on. */
  changes: number;
  temporalUi: string | null;
}

export function TurnEvents({ client, conversation, changes, temporalUi }: Props) {
  const { items, problem, retry } = useTurnEvents(client, conversation, changes);
  const rows = useMemo(
    () => timelineRows(timelineOf(items.map(toEntry), { contents: true }), undefined, words.timeline),
    [items],
  );
  const turnId = items.at(-1)?.event['turnId'];
  return (
    <aside aria-label={words.whatTurnDoes}>
      <header>
        <h2>{words.behindTheScenes}</h2>
        {temporalUi !== null && conversation !== undefined && typeof turnId === 'string' && (
          <a href={workflowUrl(temporalUi, conversation, turnId)} target="_blank" rel="noopener">
            {words.openInTemporal}
          </a>
        )}
      </header>
      {rows.length === 0 && problem === null && <p className="empty">{words.saySomething}</p>}
      {rows.length > 0 && <Rows rows={rows} />}
      {items.some(({ event }) => event.type === 'error' && event['turnId'] === turnId) && (
        <p className="empty">{words.seeTerminal}</p>
      )}
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
    <ol tabIndex={0} aria-label={words.events} className="timeline" ref={list}>
      {rows.map(({ id, className, body }) => (
        // Escaped by construction: see html/html.ts.
        <li key={id} className={className} dangerouslySetInnerHTML={{ __html: body.markup }} />
      ))}
    </ol>
  );
}

/** All events but those of text, which the conversation shows. Reads only while the page is visible. */
function useTurnEvents(client: Client, conversation: string | undefined, changes: number) {
  const [items, setItems] = useState<FeedItem[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const turns = useRef<FollowedTurns>(undefined);

  const readOn = useCallback(() => {
    if (document.hidden) return turns.current?.leave();
    setProblem(null);
    turns.current?.wake();
  }, []);

  useEffect(() => {
    if (conversation === undefined) return undefined;
    let arrived: FeedItem[] = [];
    let frame = 0;
    // One rendering per frame: a long conversation arrives in one burst.
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
    readOn();
    document.addEventListener('visibilitychange', readOn);
    addEventListener('online', readOn);
    return () => {
      document.removeEventListener('visibilitychange', readOn);
      removeEventListener('online', readOn);
      cancelAnimationFrame(frame);
      turns.current?.leave();
      turns.current = undefined;
    };
  }, [client, conversation, readOn]);
  useEffect(readOn, [readOn, changes]);

  return { items, problem, retry: readOn };
}

export function TryAgain({ onPress }: { onPress: () => void }) {
  return (
    <button type="button" className="again" onClick={onPress}>
      {words.tryAgain}
    </button>
  );
}
