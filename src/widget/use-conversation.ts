/** One conversation on the screen: what was said before, the turn that is live, and what is done to it elsewhere. */
import { useChat } from '@ai-sdk/react';
import { useMemo, useState } from 'react';
import type { Client } from '../client/client.ts';
import { InterludeError } from '../client/interlude-error.ts';
import { textOf } from './message.ts';
import type { Message } from './message.ts';
import type { PageContext } from './page-context.ts';
import { createTransport } from './transport.ts';
import { useHistory } from './use-history.ts';
import { wordsOf } from './words-of.ts';

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
  /** Ends the turn; while its message is still on its way, gives that up. */
  stop(): void;
  /** Absent when the beginning is on the screen. */
  showEarlier: (() => Promise<void>) | undefined;
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
  const [isBegun, setBegun] = useState(false);
  const [seen] = useState(() => new Set<string>());
  const transport = useMemo(
    () =>
      createTransport({
        client,
        agent,
        context,
        onStatus: (status) => setReconnecting(status === 'reconnecting'),
        onBegin: () => setBegun(true),
        onEnd: (turnId) => seen.add(turnId),
      }),
    [client, agent, context, seen],
  );
  const chat = useChat<Message>({ id: conversationId, transport });
  const { messages, status, sendMessage, clearError, error } = chat;
  const isSending = status === 'submitted' && !isBegun;
  const isAtWork = status === 'submitted' || status === 'streaming';
  const isRefused = error instanceof InterludeError && messages.at(-1)?.role === 'user';
  const history = useHistory({
    client,
    conversationId,
    isNew,
    chat,
    seen,
    isFollowing: isAtWork && !isSending,
    isOurs: isAtWork || isRefused,
  });

  function forgetFailure() {
    clearError();
    history.setFailure(null);
    setBegun(false);
  }

  function send(text: string) {
    forgetFailure();
    void sendMessage({ text });
  }

  return {
    messages,
    phase: isSending ? 'sending' : isAtWork ? 'working' : history.isLoading ? 'loading' : 'idle',
    isReconnecting: isReconnecting && isAtWork,
    failure: error ? wordsOf(error) : history.failure,
    send,
    retry() {
      const asked = messages.findLast(({ role }) => role === 'user');
      // The turn itself has failed, and so would the same message again.
      if (asked && error && !(error instanceof InterludeError)) return send(textOf(asked));
      forgetFailure();
      void (isRefused ? sendMessage() : history.read());
    },
    stop() {
      const cancelled = client.cancel(conversationId);
      if (!isSending) cancelled.catch((problem: unknown) => history.setFailure(wordsOf(problem)));
      else {
        // Nobody has the message, as far as we know.
        void chat.stop();
        cancelled.catch(() => undefined);
      }
    },
    showEarlier: history.showEarlier,
  };
}
