/** The page: the widget, what its turns do, and notices about sign-in and agents. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { MouseEvent } from 'react';
import type { Client } from '@interlude-ai/client/client.ts';
import { useStatus } from './sign-in.ts';
import type { Settings, SignIn } from './sign-in.ts';
import { TryAgain, TurnEvents } from './turn-events.tsx';
import { keepForSignIn, useOpened } from './use-opened.ts';
import type { Opened } from './use-opened.ts';
import type { InterludeChat } from '@interlude-ai/widget/element.tsx';
import type { ElicitationNews } from '@interlude-ai/widget/interlude-chat.ts';
import { wordsOf } from '@interlude-ai/widget/use-history.ts';
import { words } from './words.ts';

/** Focusing the element itself would focus its log. */
function focusComposer(event: MouseEvent): void {
  event.preventDefault();
  const chat = document.querySelector('interlude-chat');
  chat?.shadowRoot?.querySelector<HTMLElement>('.composer textarea')?.focus();
}

/** Stable, so that effects do not run again. */
const noSuggestions: string[] = [];

export function Playground({
  client,
  signIn,
  userName,
  temporalUi,
  suggestions,
  isWatched,
}: Settings & { client: Client; signIn: SignIn }) {
  const agents = useAgents(client);
  const { opened, startAnew, begun } = useOpened(client);
  const [changes, setChanges] = useState(0);
  const countChange = useCallback(() => setChanges((before) => before + 1), []);
  const agent = opened.kind === 'looking' ? undefined : opened.agent;
  const isListed = agent === undefined || agents.ids.includes(agent);
  // Before the list has loaded, this is not known.
  const isGone = !isListed && agents.ids.length > 0;
  const conversation = opened.kind === 'begun' ? opened.conversation : undefined;

  return (
    <>
      <a className="skip" href="#conversation" onClick={focusComposer}>
        {words.writeMessage}
      </a>
      <header className="bar">
        <h1>Interlude</h1>
        <label>
          <span>{words.agent} </span>
          <select
            aria-label={words.agent}
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
          aria-label={words.newConversation}
          onClick={() => startAnew(isGone ? undefined : agent)}
        >
          <span>{words.newConversation}</span>
          <span className="short">{words.newInShort}</span>
        </button>
        <nav aria-label={words.account}>
          <a href="/connections" onClick={keepForSignIn}>
            {words.connections}
          </a>
          <span className="user">{userName}</span>
          <a href="/auth/login?to=playground&as=other">{words.switchUser}</a>
        </nav>
      </header>
      <Notices {...{ signIn, agents, opened }} />
      {isWatched && <Mistakes />}
      <div className="panes" id="conversation">
        {opened.kind === 'looking' ? (
          <div />
        ) : (
          <Conversation
            opened={opened}
            suggestions={suggestions[agent ?? agents.ids[0] ?? ''] ?? noSuggestions}
            takesImages={agents.withImages.has(agent ?? agents.ids[0] ?? '')}
            token={signIn.token}
            onBegun={begun}
            onNews={countChange}
          />
        )}
        <TurnEvents key={conversation} {...{ client, conversation, changes, temporalUi }} />
      </div>
    </>
  );
}

interface ConversationProps {
  opened: Exclude<Opened, { kind: 'looking' }>;
  suggestions: string[];
  token: () => Promise<string>;
  /** The service has stored the conversation. */
  onBegun: (conversation: string) => void;
  /** A turn or a question of it has changed. */
  onNews: () => void;
  takesImages: boolean;
}

function Conversation({ opened, suggestions, takesImages, token, onBegun, onNews }: ConversationProps) {
  const chat = useRef<InterludeChat>(null);
  // A layout effect, so that nothing can be typed into the previous conversation, where it would be lost.
  useLayoutEffect(() => {
    const element = chat.current;
    // The page decides which conversation is shown, not what the element remembers of an earlier visit.
    if (element?.conversation === undefined) return;
    if (opened.kind === 'new') element.startAnew();
    else if (opened.conversation !== element.conversation)
      element.setAttribute('conversation', opened.conversation);
  }, [opened]);
  useEffect(() => {
    const element = chat.current;
    if (!element) return undefined;
    element.suggestions = suggestions;
    element.token = token;
    const listening = new AbortController();
    const { signal } = listening;
    element.addEventListener('turn-started', () => onBegun(element.conversation), { signal });
    for (const event of ['turn-started', 'elicitation', 'turn-ended'])
      element.addEventListener(event, onNews, { signal });
    // In a low window the page scrolls, and the question may be below.
    const showQuestion = (event: Event) => {
      const { status } = (event as CustomEvent<ElicitationNews>).detail;
      if (status === 'pending') element.scrollIntoView();
    };
    element.addEventListener('elicitation', showQuestion, { signal });
    return () => listening.abort();
  }, [suggestions, token, onBegun, onNews]);
  return <interlude-chat ref={chat} agent={opened.agent} images={takesImages} />;
}

function Notices({ signIn, agents, opened }: { signIn: SignIn; agents: Agents; opened: Opened }) {
  const status = useStatus(signIn);
  return (
    <div className="notices" role="status">
      {status === 'over' && (
        <p>
          {words.signInEnded}{' '}
          <a href="/auth/login?to=playground" onClick={keepForSignIn}>
            {words.signInAgain}
          </a>
        </p>
      )}
      {status === 'replaced' && (
        <p>
          {words.otherUser} <a href="/">{words.goOnAsThem}</a>
        </p>
      )}
      {status === 'valid' && agents.problem !== null && (
        <p>
          {words.noAgents(agents.problem)} <TryAgain onPress={agents.retry} />
        </p>
      )}
      {opened.kind === 'new' && opened.isMissing === true && <p>{words.noConversation}</p>}
    </div>
  );
}

const askEveryMs = 1_000;

/** In the agents file and in tools, with file and line. */
function Mistakes() {
  const [problems, setProblems] = useState<string[]>([]);
  useEffect(() => {
    const ask = async () => {
      if (document.hidden) return;
      const response = await fetch('/playground/problems').catch(() => null);
      if (!response?.ok) return;
      const now = ((await response.json()) as { problems: string[] }).problems;
      setProblems((before) => (before.join('\n') === now.join('\n') ? before : now));
    };
    void ask();
    const asking = setInterval(() => void ask(), askEveryMs);
    return () => clearInterval(asking);
  }, []);
  return (
    <div className="notices mistakes" role="status">
      {problems.length > 0 && (
        <p>
          {words.notTaken}
          {problems.map((problem) => (
            <code key={problem}>{problem}</code>
          ))}
        </p>
      )}
    </div>
  );
}

interface Agents {
  ids: string[];
  withImages: ReadonlySet<string>;
  /** Why they could not be loaded; null while loading. */
  problem: string | null;
  retry(): void;
}

function useAgents(client: Client): Agents {
  const [agents, setAgents] = useState<Awaited<ReturnType<Client['agents']>>>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    client.agents({ signal: leaving.signal }).then(setAgents, (error: unknown) => {
      if (!leaving.signal.aborted) setProblem(wordsOf(error));
    });
    return () => leaving.abort();
  }, [client, attempt]);
  return {
    ids: agents.map(({ id }) => id),
    withImages: new Set(agents.filter(({ images }) => images).map(({ id }) => id)),
    problem,
    retry() {
      setProblem(null);
      setAttempt(attempt + 1);
    },
  };
}
