/** What was said before is on the screen, and what happens elsewhere. */
import { useCallback, useRef, useState } from 'react';
import type { UseChatHelpers } from '@ai-sdk/react';
import type { Client } from '../client/client.ts';
import { failureOf } from './failure.ts';
import type { Failure } from './failure.ts';
import type { Message } from './message.ts';
import { readHistory, withEarlier, withNewest } from './read-history.ts';
import type { Requests } from './use-requests.ts';
import { useWatch } from './use-watch.ts';

interface Options {
  client: Client;
  conversationId: string;
  /** The service has heard of it, so that there is something to read. */
  isKnown: boolean;
  chat: Pick<UseChatHelpers<Message>, 'messages' | 'setMessages' | 'resumeStream'>;
  /** A turn that is followed here tells of itself: nothing is read over it. */
  requests: Pick<Requests, 'isUnderWay' | 'count'>;
  /** Set for a conversation that may be gone, or somebody else's: called instead of showing a failure. */
  onUnknown: (() => void) | undefined;
}

/** How long somebody waits for the conversation before they are told that they do. */
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
      // What was read before a message was sent does not know of it.
      const isOver = () =>
        signal?.aborted === true || count.current.underWay > 0 || count.current.begun > begun;
      try {
        const history = await readHistory(client, conversationId, {
          patient: true,
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
        // Until it is joined or over, nobody knows that the agent is idle.
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
    /** Absent when the beginning is on the screen. */
    showEarlier: earlier === null ? undefined : showEarlier,
  };
}
