/** The state of the conversation on the screen: its history, the live turn, and changes made in other windows. */
import { useChat } from '@ai-sdk/react';
import { useCallback, useMemo, useRef, useState } from 'react';
import type { Client } from '@interlude-ai/client/client.ts';
import { mediaTypeIn } from '@interlude-ai/client/new-message.ts';
import { failureOf, useHistory } from './use-history.ts';
import type { Failure } from './use-history.ts';
import { imagesOf, textOf } from './message.ts';
import type { Message } from './message.ts';
import type { PageContext } from './page-context.ts';
import { createTransport } from './transport.ts';

/** `loading` until the history is there; `sending` until the service has accepted the message. */
export type Phase = 'loading' | 'idle' | 'sending' | 'working';

interface Conversation {
  messages: Message[];
  phase: Phase;
  isReconnecting: boolean;
  /** No worker has started the turn yet, for longer than usual. */
  isUnattended: boolean;
  failure: Failure | null;
  /** `images`: `data:` URLs. */
  send(text: string, images?: readonly string[]): void;
  /** Cancels the turn; while its message is being sent, takes the message back instead. */
  stop(): void;
  /** Loads older messages; absent when the beginning is shown. */
  showEarlier: (() => Promise<void>) | undefined;
}

export interface ConversationOptions {
  client: Client;
  conversationId: string;
  /** The service does not know it yet, so there is no history. */
  isNew: boolean;
  agent: string | undefined;
  /** What the page shows: called for every message, and sent with it. */
  context: () => PageContext;
  /** Set for a conversation that may be gone or belong to another user: called instead of showing a failure. */
  onUnknown: (() => void) | undefined;
}

/** `giveBack` gets a message that was not accepted, for the composer. */
export function useConversation(
  options: ConversationOptions,
  giveBack: (message: Message) => void,
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
  /** Removes a message that was not accepted, and gives it back. */
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
    giveBack(message);
  };

  /** Aborts a cancel request when the next message is sent: a late one would cancel that message's turn. */
  const stopping = useRef(new AbortController());

  function send(text: string, images: readonly string[] = []) {
    stopping.current.abort();
    stopping.current = new AbortController();
    clearError();
    setFailed(false);
    setUnattended(false);
    setRefused(null);
    setTrouble(null);
    setReconnecting(false);
    const files = images.map((url) => ({ type: 'file', mediaType: mediaTypeIn(url), url }) as const);
    void sendMessage({ text, files });
  }

  function stop() {
    if (sending) {
      // The service may have accepted the message all the same: its turn is then found by watching the conversation.
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
    // Reloading a failed turn would only show the same failure, so the message is sent again.
    return failureOf(problem, () =>
      hasFailed && asked ? send(textOf(asked), imagesOf(asked)) : void history.read(),
    );
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

/** The current values, which may be ahead of the last rendering. */
interface Count {
  underWay: number;
  begun: number;
}

interface Requests {
  isUnderWay: boolean;
  count: { readonly current: Count };
  /** Returns a function to call when the request has ended. */
  onRequest: () => () => void;
}

/**
 * The requests of `useChat` that are under way. It allows several at once, and its status is that of the one that reported
 * last: the stream of a replaced turn says `ready` while the new message is being sent.
 */
function useRequests(): Requests {
  const count = useRef<Count>({ underWay: 0, begun: 0 });
  const [underWay, setUnderWay] = useState(0);
  const onRequest = useCallback(() => {
    let isOver = false;
    count.current.begun += 1;
    setUnderWay((count.current.underWay += 1));
    return () => {
      if (isOver) return;
      isOver = true;
      setUnderWay((count.current.underWay -= 1));
    };
  }, []);
  return { isUnderWay: underWay > 0, count, onRequest };
}
