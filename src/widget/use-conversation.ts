/** One conversation on the screen: what was said before, the turn that is live, and what other tabs do to it. */
import { useChat } from '@ai-sdk/react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Client } from '../client/client.ts';
import { InterludeError } from '../client/interlude-error.ts';
import type { Message } from './message.ts';
import type { PageContext } from './page-context.ts';
import { createTransport } from './transport.ts';

/** `loading` until it is known what was said before; `sending` until the service has the message. */
export type Phase = 'loading' | 'idle' | 'sending' | 'working';

export interface Conversation {
  messages: Message[];
  phase: Phase;
  isReconnecting: boolean;
  /** Why the last message or the history did not arrive, in the service's words. */
  failure: string | null;
  send(text: string): void;
  /** What failed, once more: the last message, which is the same turn if it arrived after all. */
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
  const [isKnown, setKnown] = useState(!isNew);
  const [failure, setFailure] = useState<string | null>(null);
  const transport = useMemo(
    () =>
      createTransport({
        client,
        agent,
        context,
        onStatus: (status) => setReconnecting(status === 'reconnecting'),
      }),
    [client, agent, context],
  );
  const { messages, status, setMessages, sendMessage, resumeStream, clearError, error } = useChat<Message>({
    id: conversationId,
    transport,
  });
  const isIdle = useRef(true);
  isIdle.current = status === 'ready' || status === 'error';

  const refresh = useCallback(async () => {
    if (!isIdle.current) return;
    try {
      const history = await historyOf(client, conversationId);
      if (!isIdle.current) return;
      setMessages(history);
      setFailure(null);
      setLoading(false);
      await resumeStream();
    } catch (problem) {
      setFailure(wordsOf(problem));
      setLoading(false);
    }
  }, [client, conversationId, setMessages, resumeStream]);

  useEffect(() => {
    if (status === 'streaming') setKnown(true);
  }, [status]);
  useOtherTabs(client, conversationId, isKnown, refresh);

  return {
    messages,
    phase: isLoading ? 'loading' : phases[status],
    isReconnecting: isReconnecting && !isIdle.current,
    failure: error ? wordsOf(error) : failure,
    send(text) {
      clearError();
      setFailure(null);
      void sendMessage({ text });
    },
    retry() {
      const last = messages.at(-1);
      clearError();
      setFailure(null);
      void (last?.role === 'user' ? sendMessage() : refresh());
    },
    stop() {
      client.cancel(conversationId).catch((problem: unknown) => setFailure(wordsOf(problem)));
    },
  };
}

const phases = { ready: 'idle', error: 'idle', submitted: 'sending', streaming: 'working' } as const;

/** Turns that were begun elsewhere are shown as soon as somebody looks. */
function useOtherTabs(
  client: Client,
  conversationId: string,
  isKnown: boolean,
  refresh: () => Promise<void>,
): void {
  useEffect(() => {
    if (!isKnown) return undefined;
    let leaving = new AbortController();
    async function watch() {
      leaving.abort();
      leaving = new AbortController();
      if (document.hidden) return;
      await refresh();
      try {
        for await (const { event } of client.events(conversationId, {
          after: 'latest',
          signal: leaving.signal,
        }))
          if (event.type === 'turn-started') void refresh();
      } catch {
        // Refused, or left: whoever looks next tries again.
      }
    }
    const looked = () => void watch();
    looked();
    document.addEventListener('visibilitychange', looked);
    window.addEventListener('pageshow', looked);
    window.addEventListener('online', looked);
    return () => {
      leaving.abort();
      document.removeEventListener('visibilitychange', looked);
      window.removeEventListener('pageshow', looked);
      window.removeEventListener('online', looked);
    };
  }, [client, conversationId, isKnown, refresh]);
}

async function historyOf(client: Client, conversationId: string): Promise<Message[]> {
  try {
    const { messages } = await client.conversation(conversationId, { limit: 100 });
    return messages.items as Message[];
  } catch (error) {
    if (error instanceof InterludeError && error.status === 404) return [];
    throw error;
  }
}

function wordsOf(error: unknown): string {
  return error instanceof InterludeError
    ? error.detail
    : error instanceof Error
      ? error.message
      : String(error);
}
