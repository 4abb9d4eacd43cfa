/** The state of the conversation on the screen: its history, the live turn, and changes made to it in other windows. */
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

/** `loading` until the history is there; `sending` until the service has accepted the message. */
export type Phase = 'loading' | 'idle' | 'sending' | 'working';

export interface Conversation {
  messages: Message[];
  phase: Phase;
  isReconnecting: boolean;
  /** No worker has started the turn yet, for longer than that usually takes. */
  isUnattended: boolean;
  failure: Failure | null;
  send(text: string): void;
  /** Cancels the turn; while its message is still being sent, gives that up instead. */
  stop(): void;
  /** Loads older messages; absent when the beginning is on the screen. */
  showEarlier: (() => Promise<void>) | undefined;
}

export interface ConversationOptions {
  client: Client;
  conversationId: string;
  /** The service does not know it yet, so there is no history to load. */
  isNew: boolean;
  agent: string | undefined;
  /** What the page shows: called for every message, and sent with it. */
  context: () => PageContext;
  /** Set for a conversation that may be gone, or somebody else's: called instead of showing a failure. */
  onUnknown: (() => void) | undefined;
}

/** `giveBack` gets the text of a message that the service did not accept, for the input field. */
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
  /** Removes a message that the service did not accept, and gives its text back. */
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

  /** Aborts a cancel request when the next message is sent: arriving late, it would cancel that message's turn. */
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
      // The service may have got the message all the same: its turn is then found by watching the conversation.
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
