/** What was said is on the screen: before somebody looked, elsewhere, and in turns that nothing here followed to their end. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { UseChatHelpers } from '@ai-sdk/react';
import type { Client } from '../client/client.ts';
import type { Message } from './message.ts';
import { readHistory, withEarlier, withNewest } from './read-history.ts';
import { useWatch } from './use-watch.ts';
import { wordsOf } from './words-of.ts';

interface Options {
  client: Client;
  conversationId: string;
  /** The service has never heard of it, so there is nothing to ask for. */
  isNew: boolean;
  chat: Pick<UseChatHelpers<Message>, 'messages' | 'setMessages' | 'resumeStream'>;
  /** Turns that are on the screen as they ended. */
  seen: Set<string>;
  /** A turn is at work, and is followed here. */
  isFollowing: boolean;
  /** A turn that is followed here, or a message that is yet to be sent: nothing is read over it. */
  isOurs: boolean;
}

export function useHistory(options: Options) {
  const { client, conversationId, isNew, chat, seen, isFollowing, isOurs } = options;
  const { setMessages, resumeStream } = chat;
  const [isLoading, setLoading] = useState(!isNew);
  const [failure, setFailure] = useState<string | null>(null);
  const [earlier, setEarlier] = useState<string | null>(null);
  /** Counts the beginnings of a watch: there is nothing to watch before the service knows the conversation. */
  const [watch, setWatch] = useState(isNew ? 0 : 1);
  const isKnown = useRef(false);
  /** Turns that the service has told of since it was read last. */
  const [told] = useState(() => new Set<string>());
  const now = useRef({ isOurs, messages: chat.messages });
  now.current = { isOurs, messages: chat.messages };

  const read = useCallback(
    async (signal?: AbortSignal): Promise<number | null> => {
      try {
        const history = await whileNothingEnds(seen, () => {
          told.clear();
          return readHistory(client, conversationId, { signal });
        });
        isKnown.current = history !== null;
        const { messages: said = [], ended = [], live = null, position = null } = history ?? {};
        if (now.current.isOurs) {
          for (const turnId of live === null ? ended : [...ended, live]) told.add(turnId);
          return position;
        }
        const shown = withNewest(now.current.messages, said);
        setMessages(shown);
        if (shown.length === said.length) setEarlier(history?.earlier ?? null);
        for (const turnId of ended) seen.add(turnId);
        setFailure(null);
        // Until it is joined or over, nobody knows that the agent is idle.
        setLoading(live !== null);
        if (live !== null) void resumeStream().finally(() => setLoading(false));
        return position;
      } catch (problem) {
        if (signal?.aborted === true) return null;
        setFailure(wordsOf(problem));
        setLoading(false);
        return null;
      }
    },
    [client, conversationId, setMessages, resumeStream, seen, told],
  );

  /** What was told and not seen is read, once nothing here is in its way. */
  const catchUp = useCallback(
    async (signal?: AbortSignal): Promise<void> => {
      if (!now.current.isOurs && [...told].some((turnId) => !seen.has(turnId))) await read(signal);
    },
    [read, seen, told],
  );
  const onTurn = useCallback(
    (turnId: string, signal: AbortSignal) => {
      told.add(turnId);
      return catchUp(signal);
    },
    [catchUp, told],
  );
  useWatch({ client, conversationId, watch, read, onTurn });

  useEffect(() => {
    if (isFollowing) {
      setLoading(false);
      if (!isKnown.current) setWatch((before) => before + 1);
    }
    if (!isOurs) void catchUp();
  }, [isFollowing, isOurs, catchUp]);

  async function showEarlier(): Promise<void> {
    if (earlier === null) return;
    try {
      const page = await readHistory(client, conversationId, { cursor: earlier });
      setMessages((shown) => withEarlier(shown, page?.messages ?? []));
      setEarlier(page?.earlier ?? null);
    } catch (problem) {
      setFailure(wordsOf(problem));
    }
  }

  return {
    isLoading,
    failure,
    /** `null` while nothing failed. */
    setFailure,
    read,
    /** Absent when the beginning is on the screen. */
    showEarlier: earlier === null ? undefined : showEarlier,
  };
}

/** What was read while a turn was seen to its end here is older than what is on the screen. */
async function whileNothingEnds<T>(seen: ReadonlySet<string>, readOnce: () => Promise<T>): Promise<T> {
  for (;;) {
    const { size } = seen;
    const answer = await readOnce();
    if (seen.size === size) return answer;
  }
}
