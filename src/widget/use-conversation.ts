/** One conversation on the screen: what was said before, the turn that is live, and what is done to it elsewhere. */
import { useChat } from '@ai-sdk/react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Client } from '../client/client.ts';
import { InterludeError } from '../client/interlude-error.ts';
import { textOf } from './message.ts';
import type { Message } from './message.ts';
import type { PageContext } from './page-context.ts';
import { readHistory } from './read-history.ts';
import { createTransport } from './transport.ts';
import { useWatch } from './use-watch.ts';

/** `loading` until it is known what was said before; `sending` until the service has the message. */
export type Phase = 'loading' | 'idle' | 'sending' | 'working';

export interface Conversation {
  messages: Message[];
  phase: Phase;
  isReconnecting: boolean;
  /** Why the last message or the history did not arrive, or the turn failed, in the service's words. */
  failure: string | null;
  send(text: string): void;
  /** What failed, once more. A message that was refused is the same turn if it arrived after all. */
  retry(): void;
  stop(): void;
}

export interface ConversationOptions {
  client: Client;
  conversationId: string;
  /** The service has never heard of it, so there is nothing to ask for. */
  isNew: boolean;
  agent: string | undefined;
  /** What the page shows, asked with every message. */
  context: () => PageContext;
}

export function useConversation(options: ConversationOptions): Conversation {
  const { client, conversationId, isNew, agent, context } = options;
  const [isReconnecting, setReconnecting] = useState(false);
  const [isLoading, setLoading] = useState(!isNew);
  /** Counts the beginnings of a watch: there is nothing to watch before the service knows the conversation. */
  const [watch, setWatch] = useState(isNew ? 0 : 1);
  const isKnown = useRef(false);
  const [failure, setFailure] = useState<string | null>(null);
  /** Turns that are on the screen as they ended. */
  const [seen] = useState(() => new Set<string>());
  /** Turns that the service has told of since it was read last. */
  const [told] = useState(() => new Set<string>());
  const transport = useMemo(
    () =>
      createTransport({
        client,
        agent,
        context,
        onStatus: (status) => setReconnecting(status === 'reconnecting'),
        onEnd: (turnId) => seen.add(turnId),
      }),
    [client, agent, context, seen],
  );
  const { messages, status, setMessages, sendMessage, resumeStream, clearError, error } = useChat<Message>({
    id: conversationId,
    transport,
  });
  const isAtWork = status === 'submitted' || status === 'streaming';
  const isRefused = error instanceof InterludeError && messages.at(-1)?.role === 'user';
  /** Nothing is read over a turn that is followed here, nor over a message that is yet to be sent. */
  const isOurs = useRef(false);
  isOurs.current = isAtWork || isRefused;

  const read = useCallback(
    async (signal?: AbortSignal): Promise<number | null> => {
      try {
        const history = await whileNothingEnds(seen, () => {
          told.clear();
          return readHistory(client, conversationId, signal);
        });
        isKnown.current = history !== null;
        const { messages: said = [], ended = [], live = null, position = null } = history ?? {};
        if (isOurs.current) {
          for (const turnId of [...ended, ...(live === null ? [] : [live])]) told.add(turnId);
          return position;
        }
        setMessages(said);
        for (const turnId of ended) seen.add(turnId);
        setFailure(null);
        // Until it is joined or over, nobody knows that the agent is idle.
        if (live === null) setLoading(false);
        else void resumeStream().finally(() => setLoading(false));
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
      if (!isOurs.current && [...told].some((turnId) => !seen.has(turnId))) await read(signal);
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
    if (status === 'streaming') {
      setLoading(false);
      if (!isKnown.current) setWatch((before) => before + 1);
    }
    void catchUp();
  }, [status, catchUp]);

  function send(text: string) {
    clearError();
    setFailure(null);
    void sendMessage({ text });
  }

  return {
    messages,
    phase: status === 'submitted' ? 'sending' : isAtWork ? 'working' : isLoading ? 'loading' : 'idle',
    isReconnecting: isReconnecting && isAtWork,
    failure: error ? wordsOf(error) : failure,
    send,
    retry() {
      if (error && !(error instanceof InterludeError)) {
        const last = messages.findLast(({ role }) => role === 'user');
        return send(last ? textOf(last) : '');
      }
      clearError();
      setFailure(null);
      void (isRefused ? sendMessage() : read());
    },
    stop() {
      client.cancel(conversationId).catch((problem: unknown) => setFailure(wordsOf(problem)));
    },
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

function wordsOf(error: unknown): string {
  return error instanceof InterludeError
    ? error.detail
    : error instanceof Error
      ? error.message
      : String(error);
}
