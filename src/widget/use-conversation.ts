/** One conversation on the screen: what was said before, the turn that is live, and what is done to it elsewhere. */
import { useChat } from '@ai-sdk/react';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Client } from '../client/client.ts';
import { failureOf } from './failure.ts';
import type { Failure } from './failure.ts';
import { textOf } from './message.ts';
import type { Message } from './message.ts';
import type { PageContext } from './page-context.ts';
import { createTransport } from './transport.ts';
import { useHistory } from './use-history.ts';

/** `loading` until it is known what was said before; `sending` until the service has the message. */
export type Phase = 'loading' | 'idle' | 'sending' | 'working';

export interface Conversation {
  messages: Message[];
  phase: Phase;
  isReconnecting: boolean;
  failure: Failure | null;
  send(text: string): void;
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
  /** For a conversation that may be gone, or somebody else's: it is not shown at all then. */
  onUnknown: (() => void) | undefined;
}

/** `giveBack` gets the text of a message that was not taken: whoever wrote it has it again. */
export function useConversation(
  options: ConversationOptions,
  giveBack: (text: string) => void,
): Conversation {
  const { client, conversationId, isNew, agent, context, onUnknown } = options;
  const [isKnown, setKnown] = useState(!isNew);
  const [isBegun, setBegun] = useState(false);
  const [isReconnecting, setReconnecting] = useState(false);
  const [outcome, setOutcome] = useState<'refused' | 'failed' | null>(null);
  const [trouble, setTrouble] = useState<Failure | null>(null);
  const transport = useMemo(
    () =>
      createTransport({
        client,
        agent,
        context,
        onStatus: (status) => setReconnecting(status === 'reconnecting'),
        onBegin() {
          setKnown(true);
          setBegun(true);
          setReconnecting(false);
        },
        onRefused: () => setOutcome('refused'),
        onFailed: () => setOutcome('failed'),
      }),
    [client, agent, context],
  );
  const chat = useChat<Message>({ id: conversationId, transport });
  const { messages, status, setMessages, sendMessage, clearError, error } = chat;
  const isAtWork = status === 'submitted' || status === 'streaming';
  const isSending = status === 'submitted' && !isBegun;
  const history = useHistory({ client, conversationId, isKnown, chat, isOurs: isAtWork, onUnknown });

  /** A word to stop that is still on its way would stop the next turn. */
  const stopping = useRef(new AbortController());

  function send(text: string) {
    stopping.current.abort();
    stopping.current = new AbortController();
    clearError();
    setOutcome(null);
    setTrouble(null);
    setBegun(false);
    setReconnecting(false);
    void sendMessage({ text });
  }

  function stop() {
    if (isSending) {
      // Nobody has the message, as far as we know; should it have arrived, its turn is there to be seen.
      void chat.stop();
      takeBack();
      return setKnown(true);
    }
    const { signal } = stopping.current;
    client
      .cancel(conversationId, { signal })
      .catch((problem: unknown) => signal.aborted || setTrouble(failureOf(problem, stop)));
  }

  function takeBack() {
    const last = messages.at(-1);
    if (last?.role !== 'user') return;
    setMessages(messages.slice(0, -1));
    giveBack(textOf(last));
  }

  useEffect(() => {
    if (outcome !== 'refused' || !error) return;
    setOutcome(null);
    setTrouble(failureOf(error));
    clearError();
    takeBack();
  });

  function failed(problem: Error): Failure {
    const asked = messages.findLast(({ role }) => role === 'user');
    // The same message again would only show the same failure.
    return failureOf(problem, () =>
      outcome === 'failed' && asked ? send(textOf(asked)) : void history.read(),
    );
  }

  return {
    messages,
    phase: isSending ? 'sending' : isAtWork ? 'working' : history.isLoading ? 'loading' : 'idle',
    isReconnecting: isAtWork ? isReconnecting : history.isSlow,
    failure: error ? failed(error) : (trouble ?? history.failure),
    send,
    stop,
    showEarlier: history.showEarlier,
  };
}
