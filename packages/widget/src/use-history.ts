/** Loads the messages of a conversation, and follows changes made in other windows. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { UseChatHelpers } from '@ai-sdk/react';
import type { Client, PageOptions } from '@interlude-ai/client/client.ts';
import type { Message } from './message.ts';
import { InterludeError } from '@interlude-ai/client/interlude-error.ts';

interface Options {
  client: Client;
  conversationId: string;
  /** The service has stored it, so there is a history. */
  isKnown: boolean;
  chat: Pick<UseChatHelpers<Message>, 'messages' | 'setMessages' | 'resumeStream'>;
  /** While a turn is followed here, nothing is read over it. */
  requests: { isUnderWay: boolean; count: { readonly current: { underWay: number; begun: number } } };
  /** Set for a conversation that may be gone or belong to another user: called instead of showing a failure. */
  onUnknown: (() => void) | undefined;
}

/** After this time, the user sees that loading takes long. */
const slowMs = 4_000;

export function useHistory(options: Options) {
  const { client, conversationId, isKnown, chat, requests, onUnknown } = options;
  const { messages, setMessages, resumeStream } = chat;
  const [isLoading, setLoading] = useState(isKnown);
  const [isSlow, setSlow] = useState(false);
  const [earlier, setEarlier] = useState<string | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const { isUnderWay, count } = requests;
  const now = useRef({ messages, onUnknown });
  now.current = { messages, onUnknown };

  const read = useCallback(
    async (signal?: AbortSignal): Promise<number | null> => {
      const slow = setTimeout(setSlow, slowMs, true);
      const { begun } = count.current;
      // A history from before a message was sent does not contain it.
      const isOver = () =>
        signal?.aborted === true || count.current.underWay > 0 || count.current.begun > begun;
      try {
        const history = await readHistory(client, conversationId, {
          retryForever: true,
          ...(signal && { signal }),
        });
        if (isOver()) return null;
        if (!history && now.current.onUnknown) {
          now.current.onUnknown();
          return null;
        }
        const said = history?.messages ?? [];
        const shown = withNewest(now.current.messages, said);
        setMessages(shown);
        if (shown.length === said.length) setEarlier(history?.earlier ?? null);
        setFailure(null);
        // Until the live turn is joined or over, the agent may be busy.
        setLoading(history?.isLive ?? false);
        if (history?.isLive === true) void resumeStream().finally(() => setLoading(false));
        return history?.position ?? null;
      } catch (error) {
        if (isOver()) return null;
        setFailure(failureOf(error, () => void read()));
        setLoading(false);
        return null;
      } finally {
        clearTimeout(slow);
        setSlow(false);
      }
    },
    [client, conversationId, setMessages, resumeStream, count],
  );
  useWatch({ client, conversationId, isOn: isKnown && !isUnderWay, read });

  async function showEarlier(): Promise<void> {
    if (earlier === null) return;
    try {
      const page = await readHistory(client, conversationId, { cursor: earlier });
      setMessages((shown) => withEarlier(shown, page?.messages ?? []));
      setEarlier(page?.earlier ?? null);
    } catch (error) {
      setFailure(failureOf(error, () => void showEarlier()));
    }
  }

  return {
    isLoading,
    isSlow,
    failure,
    read,
    /** Absent when the beginning is shown. */
    showEarlier: earlier === null ? undefined : showEarlier,
  };
}

interface History {
  messages: Message[];
  /** A turn is live; its message comes with its stream. */
  isLive: boolean;
  /** The position after which the feed continues. */
  position: number;
  /** The cursor of older messages; `null` at the beginning. */
  earlier: string | null;
}

/** Turns per page: more than fit on a screen, few enough to load at once. */
const limit = 30;

/** The newest page, or the one before `cursor`; `null` if the conversation does not exist. */
async function readHistory(
  client: Client,
  conversationId: string,
  options: PageOptions,
): Promise<History | null> {
  try {
    const { messages, turn, position } = await client.conversation(conversationId, { limit, ...options });
    const { items, next } = messages;
    return { messages: items as Message[], isLive: turn !== null, position, earlier: next };
  } catch (error) {
    if (error instanceof InterludeError && error.status === 404) return null;
    throw error;
  }
}

/** Appends the newest page to the shown messages. If there is a gap between the two, the older messages are dropped. */
function withNewest(shown: Message[], newest: Message[]): Message[] {
  const [first] = newest;
  const known = shown.findIndex(({ id }) => id === first?.id);
  return [...shown.slice(0, Math.max(0, known)), ...newest];
}

/** Without duplicates, because a page may be loaded twice. */
function withEarlier(shown: Message[], earlier: Message[]): Message[] {
  const known = new Set(shown.map(({ id }) => id));
  return [...earlier.filter(({ id }) => !known.has(id)), ...shown];
}

interface Watch {
  client: Client;
  conversationId: string;
  /** Only while the conversation exists, and no turn is followed here. */
  isOn: boolean;
  /** Resolves with the position after which the feed continues; `null` if it does not. */
  read: (signal: AbortSignal) => Promise<number | null>;
}

/**
 * While the page is visible, reads the history, and again whenever a turn begins or ends elsewhere or the user returns to
 * the page. Uses one connection, and none while the page is hidden.
 */
function useWatch({ client, conversationId, isOn, read }: Watch): void {
  useEffect(() => {
    if (!isOn) return undefined;
    let leaving = new AbortController();

    async function watch({ signal }: AbortController) {
      try {
        for (;;) {
          const after = await read(signal);
          if (after === null) return;
          await nextTurn(client.events(conversationId, { after, signal }));
        }
      } catch {
        // Refused or aborted: the next look tries again.
      }
    }
    function restart() {
      leaving.abort();
      leaving = new AbortController();
      if (!document.hidden) void watch(leaving);
    }

    restart();
    const listening = new AbortController();
    for (const [place, eventName] of [
      [document, 'visibilitychange'],
      [document, 'resume'],
      [window, 'pageshow'],
      [window, 'online'],
    ] as const)
      place.addEventListener(eventName, restart, { signal: listening.signal });
    return () => {
      leaving.abort();
      listening.abort();
    };
  }, [client, conversationId, isOn, read]);
}

async function nextTurn(feed: ReturnType<Client['events']>): Promise<void> {
  for await (const { event } of feed)
    if (event.type === 'turn-started' || event.type === 'turn-ended') return;
}

export interface Failure {
  /** For the user. */
  words: string;
  /** Tries again; absent where that is not possible. */
  again?: (() => void) | undefined;
}

export function failureOf(error: unknown, again?: () => void): Failure {
  return { words: wordsOf(error), again };
}

/** The message of the service or the browser. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
