import { useEffect, useRef, useState } from 'react';
import type { Client } from '../client/client.ts';
import type { InterludeChat } from '../widget/element.tsx';
import type { Settings } from './settings.ts';
import { TurnEvents } from './turn-events.tsx';

export function Playground({
  client,
  userName,
  temporalUi,
  suggestions,
  token,
}: Settings & { client: Client }) {
  const [agents, setAgents] = useState<string[]>([]);
  const [agent, setAgent] = useState<string>();
  const [conversation, setConversation] = useState(conversationInAddress);
  /** Whether the service knows it, so that there is something to follow. */
  const [isBegun, setBegun] = useState(conversation !== undefined);
  /** The one the page was opened with; later ones are the widget's own. */
  const [first] = useState(conversation);
  const chat = useRef<InterludeChat>(null);

  useEffect(() => {
    void client.agents().then((found) => setAgents(found.map(({ id }) => id)));
  }, [client]);
  useEffect(() => {
    const element = chat.current;
    if (!element) return undefined;
    element.suggestions = suggestions;
    element.token = token;
    const begun = () => {
      // In the address, so that a reload comes back to it and a second tab can join.
      history.replaceState(null, '', `#${element.conversation}`);
      setConversation(element.conversation);
      setBegun(true);
    };
    element.addEventListener('turn-started', begun);
    return () => element.removeEventListener('turn-started', begun);
  }, [suggestions, token]);

  function startAnew() {
    chat.current?.startAnew();
    history.replaceState(null, '', location.pathname);
    setConversation(undefined);
    setBegun(false);
  }

  return (
    <>
      <header className="bar">
        <h1>Interlude</h1>
        <label>
          <span>Agent </span>
          <select
            value={agent ?? agents[0] ?? ''}
            onChange={(event) => {
              setAgent(event.currentTarget.value);
              startAnew();
            }}
          >
            {agents.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <button type="button" aria-label="New conversation" onClick={startAnew}>
          New <span>conversation</span>
        </button>
        <nav aria-label="Account">
          <a href="/connections">Connections</a>
          <span className="user">{userName}</span>
          <a href="/auth/login?to=playground&as=other">Switch user</a>
        </nav>
      </header>
      <div className="panes">
        <interlude-chat ref={chat} conversation={first} agent={agent} />
        <TurnEvents
          key={conversation}
          conversation={isBegun ? conversation : undefined}
          {...{ client, temporalUi }}
        />
      </div>
    </>
  );
}

function conversationInAddress(): string | undefined {
  const name = location.hash.slice(1);
  return /^[\w.:-]{1,128}$/.test(name) ? name : undefined;
}
