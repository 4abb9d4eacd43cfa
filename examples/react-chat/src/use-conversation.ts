/** `useChat` against the chat route. */
import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import { useEffect, useRef } from 'react';
import { headers, post, read, Refused, request, service } from './interlude.ts';
import type { Message } from './interlude.ts';

const api = `${service}/run/api/chat`;
const transport = new DefaultChatTransport<Message>({ api, headers, fetch: request });

export interface Options {
  conversation: string;
  /** Before the turn that is at work. */
  said: Message[];
  /** A stream ended and its turn did not. */
  onCut: (said: Message[]) => void;
}

export function useConversation({ conversation, said, onCut }: Options) {
  const chat = useChat({ id: conversation, messages: said, transport });
  const { messages, setMessages, sendMessage, resumeStream, status, error } = chat;
  const isBusy = useRef(false);
  const sends = useRef(0);
  isBusy.current = status === 'submitted' || status === 'streaming';

  /** That a stream has ended, with or without an error, says nothing about the turn. What the service has, counts. */
  async function settle(sent?: string) {
    const before = sends.current;
    // What was read before a message was sent does not know of it.
    const isOld = () => isBusy.current || sends.current > before;
    try {
      const { turn, messages: stored } = await read(conversation);
      const hasArrived = sent === undefined || stored.items.some(({ id }) => id === sent);
      if (isOld() || !hasArrived) return;
      if (turn) setTimeout(() => isOld() || onCut(stored.items), 1_000);
      else setMessages(stored.items);
    } catch (failure) {
      if (!(failure instanceof Refused)) setTimeout(settle, 2_000, sent);
    }
  }

  useEffect(() => {
    // As `resume: true` does, which would not tell when it is over.
    if (said.length > 0) void resumeStream().then(() => settle());
  }, []);

  return {
    messages,
    error,
    isBusy: isBusy.current,
    send(text: string) {
      sends.current += 1;
      const id = crypto.randomUUID();
      void sendMessage({ id, role: 'user', parts: [{ type: 'text', text }] }).then(() => settle(id));
    },
    /** The same message again is the same turn, if it had arrived after all. */
    sendAgain() {
      sends.current += 1;
      void sendMessage().then(() => settle(messages.at(-1)?.id));
    },
    /** Ends the turn; `stop` of `useChat` only looks away. */
    stop: () => void post(`/run/api/chat/${conversation}/cancel`, {}),
  };
}
