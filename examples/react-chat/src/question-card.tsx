import { useState } from 'react';
import { isSafeToOpen } from '@interlude-ai/client';
import { post, Refused } from './interlude.ts';
import type { Question } from './interlude.ts';
import { ApprovalForm } from './approval-form.tsx';
import { QuestionForm } from './question-form.tsx';

const outcomes = { accept: 'done', decline: 'not now', cancel: 'no longer needed', expired: 'too late' };

/** Its status comes with the stream, as the same part again; nothing is decided here. */
export function QuestionCard({ question, conversation }: { question: Question; conversation: string }) {
  const [failure, setFailure] = useState<Error | null>(null);
  const { context, elicitationId, message, status } = question;
  const asker = context.serverTitle ?? context.agent ?? 'The agent';
  if (status !== 'pending') return <small>{`${asker}: ${outcomes[status]}`}</small>;

  function answer(action: 'accept' | 'decline' | 'cancel', more: object = {}) {
    setFailure(null);
    const decision = { conversationId: conversation, elicitationId, action, ...more };
    post('/run/api/elicitation-responses', decision).catch(setFailure);
  }
  // A connection is noticed by itself; for any other page, opening it is the consent.
  const consent = () => context.trigger !== 'credential_required' && answer('accept');

  // A tool call that waits for a yes; a server's form without fields is none.
  const isApproval = context.trigger === 'approval';

  return (
    <section aria-label={`Question from ${asker}`}>
      <p>
        <strong>{asker}</strong>
        {context.host && ` at ${context.host}`} asks: {message}
      </p>
      {isApproval ? (
        <ApprovalForm call={context} answer={answer} />
      ) : question.mode === 'url' ? (
        <p>
          {isSafeToOpen(question.url) ? (
            <a href={question.url} target="_blank" rel="noopener noreferrer" onClick={consent}>
              Open {new URL(question.url).host}
            </a>
          ) : (
            'This address is not encrypted, so this page does not open it:'
          )}
          <small>{question.url}</small>
        </p>
      ) : (
        <QuestionForm
          schema={question.requestedSchema}
          errors={failure instanceof Refused ? failure.errors : []}
          onFilled={(content) => answer('accept', { content })}
        />
      )}
      {failure && <p role="alert">{failure.message}</p>}
      {!isApproval && <button onClick={() => answer('decline')}>Not now</button>}
      <button onClick={() => answer('cancel')}>Dismiss</button>
    </section>
  );
}
