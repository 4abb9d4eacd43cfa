import { useCallback, useState } from 'react';
import type { MouseEvent } from 'react';
import type { Client } from '../client/client.ts';
import { Conversation } from './conversation.tsx';
import { Notices } from './notices.tsx';
import type { Settings } from './settings.ts';
import type { SignIn } from './sign-in.ts';
import { TurnEvents } from './turn-events.tsx';
import { useAgents } from './use-agents.ts';
import { useOpened } from './use-opened.ts';

/** The element would give the focus to its first part, the conversation. */
function writeMessage(event: MouseEvent): void {
  event.preventDefault();
  const chat = document.querySelector('interlude-chat');
  chat?.shadowRoot?.querySelector<HTMLElement>('.composer textarea')?.focus();
}

/** The same each time. */
const none: string[] = [];

interface Props extends Settings {
  client: Client;
  signIn: SignIn;
}

export function Playground({ client, signIn, userName, temporalUi, suggestions }: Props) {
  const agents = useAgents(client);
  const { opened, startAnew, begun } = useOpened(client);
  const [changes, setChanges] = useState(0);
  const tell = useCallback(() => setChanges((before) => before + 1), []);
  const agent = opened.kind === 'looking' ? undefined : opened.agent;
  const isListed = agent === undefined || agents.ids.includes(agent);
  // Not while nobody knows yet.
  const isGone = !isListed && agents.ids.length > 0;
  const conversation = opened.kind === 'begun' ? opened.conversation : undefined;

  return (
    <>
      <a className="skip" href="#conversation" onClick={writeMessage}>
        Write a message
      </a>
      <header className="bar">
        <h1>Interlude</h1>
        <label>
          <span>Agent </span>
          <select
            aria-label="Agent"
            value={agent ?? agents.ids[0] ?? ''}
            onChange={(event) => startAnew(event.currentTarget.value)}
          >
            {!isListed && <option>{agent}</option>}
            {agents.ids.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <button
          type="button"
          aria-label="New conversation"
          onClick={() => startAnew(isGone ? undefined : agent)}
        >
          New <span>conversation</span>
        </button>
        <nav aria-label="Account">
          <a href="/connections">Connections</a>
          <span className="user">{userName}</span>
          <a href="/auth/login?to=playground&as=other">Switch user</a>
        </nav>
      </header>
      <Notices {...{ signIn, agents, opened }} />
      <div className="panes" id="conversation">
        {opened.kind === 'looking' ? (
          <div />
        ) : (
          <Conversation
            opened={opened}
            suggestions={suggestions[agent ?? agents.ids[0] ?? ''] ?? none}
            token={signIn.token}
            onBegun={begun}
            onNews={tell}
          />
        )}
        <TurnEvents key={conversation} {...{ client, conversation, changes, temporalUi }} />
      </div>
    </>
  );
}
