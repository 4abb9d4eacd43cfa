import { useState } from 'react';
import type { FormEvent } from 'react';
import { QuestionCard } from './question-card.tsx';
import { useConversation } from './use-conversation.ts';
import type { Options } from './use-conversation.ts';

export function Chat(options: Options) {
  const { conversation } = options;
  const { messages, error, isBusy, send, sendAgain, stop } = useConversation(options);
  const [text, setText] = useState('');

  function submit(event: FormEvent) {
    event.preventDefault();
    if (isBusy) return;
    location.hash = conversation;
    setText('');
    send(text);
  }

  return (
    <>
      <div role="log" aria-label="Conversation">
        {messages.map(({ id, role, parts }) => (
          <article key={id} className={role}>
            {parts.map((part, index) => {
              if (part.type === 'text') return <p key={index}>{part.text}</p>;
              if (part.type === 'dynamic-tool')
                return <small key={index}>{`${part.toolName}: ${part.state}`}</small>;
              if (part.type === 'data-elicitation-request')
                return <QuestionCard key={index} question={part.data} conversation={conversation} />;
              return null;
            })}
          </article>
        ))}
      </div>
      {error && (
        <p role="alert">
          {error.message} {messages.at(-1)?.role === 'user' && <button onClick={sendAgain}>Try again</button>}
        </p>
      )}
      <form className="composer" onSubmit={submit}>
        <input aria-label="Message" value={text} required onChange={(event) => setText(event.target.value)} />
        {isBusy ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button>Send</button>
        )}
      </form>
    </>
  );
}
