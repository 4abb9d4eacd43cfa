/** The question whether a tool call may be made: shows its arguments, and for how long an approval applies. */
import { useId, useState } from 'react';
import type { FormEvent } from 'react';
import { longestReason } from '@interlude-ai/core/elicitation/approval.ts';
import type { CardProps } from './use-answer.ts';

export function ApprovalQuestion({ question, answer, words }: CardProps) {
  const [remember, setRemember] = useState<'' | 'conversation' | 'always'>('');
  const [reason, setReason] = useState<string | null>(null);
  const id = useId();
  const { isSending, failure } = answer;
  const { arguments: shown, toolName } = question.context;

  function approve(event: FormEvent) {
    event.preventDefault();
    void answer.send({ action: 'accept', ...(remember !== '' && { remember }) });
  }

  function decline() {
    const why = reason?.trim();
    void answer.send({ action: 'decline', ...(why && { reason: why }) });
  }

  return (
    <form noValidate onSubmit={approve} aria-busy={isSending}>
      {shown !== undefined && (
        <figure className="arguments">
          <figcaption id={`${id}-arguments`}>
            {words.willBeSent}
            {toolName !== undefined && <code>{toolName}</code>}
          </figcaption>
          {/* Focusable, to be scrolled with the keyboard. */}
          <pre tabIndex={0} aria-labelledby={`${id}-arguments`}>
            {shown}
          </pre>
        </figure>
      )}
      {reason === null ? (
        <div className="field next-time">
          <label htmlFor={`${id}-remember`}>{words.nextTime}</label>
          <select
            id={`${id}-remember`}
            value={remember}
            onChange={(event) => setRemember(event.currentTarget.value as typeof remember)}
          >
            <option value="">{words.askEachTime}</option>
            <option value="conversation">{words.allowInConversation}</option>
            <option value="always">{words.allowAlways}</option>
          </select>
        </div>
      ) : (
        <div className="field">
          <label htmlFor={`${id}-reason`}>
            {words.whyNot} <small>{words.optional}</small>
          </label>
          <textarea
            id={`${id}-reason`}
            // The field appears when the user presses “Decline and say why”.
            autoFocus
            maxLength={longestReason}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        </div>
      )}
      {failure !== null && (
        <p className="problem" role="alert">
          {failure}
        </p>
      )}
      <div className="actions">
        {reason === null && (
          <button className="button" aria-disabled={isSending}>
            {words.approve}
          </button>
        )}
        <button
          type="button"
          className={reason === null ? 'button quiet' : 'button'}
          aria-disabled={isSending}
          onClick={decline}
        >
          {words.decline}
        </button>
        <button type="button" className="link" onClick={() => setReason(reason === null ? '' : null)}>
          {reason === null ? words.declineWithReason : words.back}
        </button>
      </div>
    </form>
  );
}
