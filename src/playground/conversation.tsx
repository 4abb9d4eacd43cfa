/** The widget, and what the page hears of it. */
import { useEffect, useLayoutEffect, useRef } from 'react';
import type { InterludeChat } from '../widget/element.tsx';
import type { Opened } from './use-opened.ts';

interface Props {
  opened: Exclude<Opened, { kind: 'looking' }>;
  suggestions: string[];
  token: () => Promise<string>;
  /** The service has it. */
  onBegun: (conversation: string) => void;
  /** Something happens in it. */
  onNews: () => void;
}

export function Conversation({ opened, suggestions, token, onBegun, onNews }: Props) {
  const chat = useRef<InterludeChat>(null);
  // Before anybody can type: into the conversation that is left, it would be lost.
  useLayoutEffect(() => {
    const element = chat.current;
    // What it remembers of an earlier visit is not asked for: the page says which one it shows.
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
    return () => listening.abort();
  }, [suggestions, token, onBegun, onNews]);
  return <interlude-chat ref={chat} agent={opened.agent} />;
}
