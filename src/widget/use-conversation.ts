/** One conversation on the screen: what was said before, the turn that is live, and what is done to it elsewhere. */
import { useChat } from '@ai-sdk/react';
import { useMemo, useRef, useState } from 'react';
import type { Client } from '../client/client.ts';
import { failureOf } from './failure.ts';
import type { Failure } from './failure.ts';
import { textOf } from './message.ts';
import type { Message } from './message.ts';
import type { PageContext } from './page-context.ts';
import { createTransport } from './transport.ts';
import { useHistory } from './use-history.ts';
import { useRequests } from './use-requests.ts';

/** `loading` until it is known what was said before; `sending` until the service has the message. */
export type Phase = 'loading' | 'idle' | 'sending' | 'working';

export interface Conversation {
  messages: Message[];
  phase: Phase;
  isReconnecting: boolean;
  /** Nobody has taken the turn up yet, for longer than that usually takes. */
  isUnattended: boolean;
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
  const [sending, setSending] = useState<Message | null>(null);
  const [isReconnecting, setReconnecting] = useState(false);
  const [isUnattended, setUnattended] = useState(false);
  const [hasFailed, setFailed] = useState(false);
  const [refused, setRefused] = useState<unknown>(null);
  const [trouble, setTrouble] = useState<Failure | null>(null);
  const requests = useRequests();
  const { onRequest } = requests;
  /** Whoever wrote it has it again, instead of a message that nobody got. */
  const takeBack = useRef<(message: Message) => void>(() => undefined);
  const transport = useMemo(
    () =>
      createTransport({
        client,
        agent,
        context,
        onRequest,
        onStatus: (status) => setReconnecting(status === 'reconnecting'),
        onSending: setSending,
        onBegin(message) {
          setKnown(true);
          setSending((now) => (now === message ? null : now));
          setReconnecting(false);
        },
        onRefused(message, problem) {
          setRefused(problem);
          setTrouble(failureOf(problem));
          takeBack.current(message);
        },
        onWaiting: setUnattended,
        onFailed: () => setFailed(true),
      }),
    [client, agent, context, onRequest],
  );
  const chat = useChat<Message>({ id: conversationId, transport });
  const { messages, setMessages, sendMessage, clearError } = chat;
  const error = chat.error === refused ? undefined : chat.error;
  const isAtWork = requests.isUnderWay;
  const isSending = sending !== null;
  const history = useHistory({ client, conversationId, isKnown, chat, requests, onUnknown });

  takeBack.current = (message) => {
    setSending((now) => (now === message ? null : now));
    setMessages((shown) => shown.filter(({ id }) => id !== message.id));
    giveBack(textOf(message));
  };

  /** A word to stop that is still on its way would stop the next turn. */
  const stopping = useRef(new AbortController());

  function send(text: string) {
    stopping.current.abort();
    stopping.current = new AbortController();
    clearError();
    setFailed(false);
    setUnattended(false);
    setRefused(null);
    setTrouble(null);
    setReconnecting(false);
    void sendMessage({ text });
  }

  function stop() {
    if (sending) {
      // Nobody has the message, as far as we know; should it have arrived, its turn is there to be seen.
      void chat.stop();
      takeBack.current(sending);
      return setKnown(true);
    }
    const { signal } = stopping.current;
    client
      .cancel(conversationId, { signal })
      .catch((problem: unknown) => signal.aborted || setTrouble(failureOf(problem, stop)));
  }

  function failed(problem: Error): Failure {
    const asked = messages.findLast(({ role }) => role === 'user');
    // The same message again would only show the same failure.
    return failureOf(problem, () => (hasFailed && asked ? send(textOf(asked)) : void history.read()));
  }

  return {
    messages,
    phase: isSending ? 'sending' : isAtWork ? 'working' : history.isLoading ? 'loading' : 'idle',
    isReconnecting: isAtWork ? isReconnecting : history.isSlow,
    isUnattended: isAtWork && isUnattended,
    failure: error ? failed(error) : (trouble ?? history.failure),
    send,
    stop,
    showEarlier: history.showEarlier,
  };
}
