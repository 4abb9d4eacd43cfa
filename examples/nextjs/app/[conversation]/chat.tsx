'use client';
import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import type { UIMessage } from 'ai';
import { useMemo, useState } from 'react';
import { QuestionCard } from './question-card.tsx';
import type { Question } from './question-card.tsx';

export type Message = UIMessage<unknown, { 'elicitation-request': Question }>;

interface Props {
  service: string;
  /** Whose page it is. */
  user: string;
  conversation: string;
  said: Message[];
  /** A turn is at work: its stream goes on here, with its question. */
  isLive: boolean;
}

async function headersOf(user: string): Promise<Record<string, string>> {
  const response = await fetch(`/api/token?user=${encodeURIComponent(user)}`);
  if (!response.ok) throw new Error(await response.text());
  return { authorization: `Bearer ${await response.text()}`, 'x-supports-elicitation': 'url,form' };
}

export function Chat({ service, user, conversation, said, isLive }: Props) {
  const [text, setText] = useState('');
  const transport = useMemo(
    () =>
      new DefaultChatTransport<Message>({ api: `${service}/run/api/chat`, headers: () => headersOf(user) }),
    [service, user],
  );
  const { messages, sendMessage, status, error } = useChat({
    id: conversation,
    messages: said,
    transport,
    resume: isLive,
  });
  const isBusy = status === 'submitted' || status === 'streaming';

  async function answer(elicitationId: string, decision: object) {
    const response = await fetch(`${service}/run/api/elicitation-responses`, {
      method: 'POST',
      headers: { ...(await headersOf(user)), 'content-type': 'application/json' },
      body: JSON.stringify({ conversationId: conversation, elicitationId, ...decision }),
    });
    if (!response.ok) throw new Error(((await response.json()) as { detail: string }).detail);
  }

  return (
    <>
      <div role="log" aria-label="Conversation">
        {messages.map(({ id, role, parts }) => (
          <article key={id} className={role}>
            {parts.map((part, index) => {
              if (part.type === 'text') return <p key={index}>{part.text}</p>;
              if (part.type !== 'data-elicitation-request') return null;
              return <QuestionCard key={index} question={part.data} answer={answer} />;
            })}
          </article>
        ))}
      </div>
      {error && <p role="alert">{error.message}</p>}
      <form
        className="composer"
        onSubmit={(event) => {
          event.preventDefault();
          setText('');
          void sendMessage({ text });
        }}
      >
        <input aria-label="Message" value={text} required onChange={(event) => setText(event.target.value)} />
        <button disabled={isBusy}>Send</button>
      </form>
    </>
  );
}
