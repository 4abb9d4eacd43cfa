/** A question to the user, and its outcome. */
import { useEffect, useRef, useState } from 'react';
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import { askerTitle, whoAsks } from '@interlude-ai/core/elicitation/elicitation.ts';
import { useAnswer } from './use-answer.ts';
import type { Answering } from './use-answer.ts';
import { isApproval } from '@interlude-ai/core/elicitation/approval.ts';
import { ApprovalQuestion } from './approval-question.tsx';
import { FormQuestion } from './form-question.tsx';
import { Icon } from './icon.tsx';
import { isComposing } from './composer.tsx';
import { SettledQuestion } from './settled-question.tsx';
import { toolName } from './tool-call.tsx';
import { UrlQuestion } from './url-question.tsx';
import { useKeptFocus, useKeptRoom } from './stay-in-place.ts';
import type { Words } from '@interlude-ai/core/elicitation/words.ts';

interface Props {
  question: ElicitationRequest;
  answering: Answering;
  now: () => number;
  words: Words;
  askAgain: (() => void) | undefined;
}

export function QuestionCard({ question, answering, now, words, askAgain }: Props) {
  const card = useRef<HTMLElement>(null);
  const settled = useRef<HTMLParagraphElement>(null);
  const isFilledIn = useRef(false);
  const answer = useAnswer(question.elicitationId, answering, words);
  useKeptFocus(card, settled, question.status);
  useKeptRoom(card, settled, question.status);
  if (question.status !== 'pending')
    return <SettledQuestion {...{ question, words, askAgain }} given={answer} place={settled} />;
  const { context, message, expiresAt, elicitationId } = question;
  const id = cardId(elicitationId);
  const title = askerTitle(context) ?? words.agent;
  const who = whoAsks(context).join(' › ');
  // Dismissing is another answer than “not now”.
  const dismiss = () => void answer.send({ action: 'cancel' });
  // Only approvals look like this, never a form of a server.
  const isOurs = isApproval(context);
  const tool =
    isOurs || context.toolName === undefined ? '' : ` ${words.needsTool(toolName(context.toolName))}`;
  return (
    <section
      className={isOurs ? 'card approval' : 'card'}
      ref={card}
      id={id}
      tabIndex={-1}
      // Not a landmark: several questions of one server would have the same name.
      role="group"
      aria-labelledby={`${id}-title ${id}-message`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || isComposing(event)) return;
        // The panel around it would close on Escape, too.
        event.stopPropagation();
        // If something was entered, Escape first moves to the button, so that one key does not lose it.
        const button = event.currentTarget.querySelector<HTMLElement>('.dismiss');
        if (isFilledIn.current && event.target !== button) button?.focus();
        else dismiss();
      }}
      onInput={() => (isFilledIn.current = true)}
    >
      <header>
        <span className="mark" aria-hidden="true">
          {isOurs ? <Icon name="shield" /> : initialOf(title)}
        </span>
        <div className="who">
          <p className="title" id={`${id}-title`} dir="auto">
            {isOurs ? words.needsApproval : title}
          </p>
          <Countdown until={expiresAt} now={now} words={words} />
          <p dir="auto">
            {[isOurs && title, context.host, who && words.askedBy(who)].filter(Boolean).join(' · ')}
            {tool}
          </p>
        </div>
        <button
          type="button"
          className="dismiss"
          aria-label={words.dismiss}
          title={words.dismiss}
          aria-disabled={answer.isSending}
          onClick={dismiss}
        >
          <Icon name="cross" />
        </button>
      </header>
      <p className="message" id={`${id}-message`} dir="auto">
        {message}
      </p>
      {(context.warnings ?? []).map((warning) => (
        <p className="warning" key={warning}>
          <Icon name="warning" />
          {words.warnings[warning as keyof Words['warnings']] ?? warning}
        </p>
      ))}
      {isOurs ? (
        <ApprovalQuestion {...{ question, answer, words }} />
      ) : question.mode === 'url' ? (
        <UrlQuestion {...{ question, answer, words }} url={question.url} />
      ) : (
        <FormQuestion {...{ question, answer, words }} schema={question.requestedSchema} />
      )}
    </section>
  );
}

export function cardId(elicitationId: string): string {
  return `question-${elicitationId}`;
}

function initialOf(title: string): string {
  return Array.from(title)[0]?.toUpperCase() ?? '';
}

interface CountdownProps {
  until: string;
  /** By the service's clock, because the local one may be wrong. */
  now: () => number;
  words: Words;
}

/** Not read out by screen readers: every second would be. */
function Countdown({ until, now, words }: CountdownProps) {
  const [left, setLeft] = useState(() => secondsUntil(until, now));
  useEffect(() => {
    const timer = setInterval(() => setLeft(secondsUntil(until, now)), 1_000);
    return () => clearInterval(timer);
  }, [until, now]);
  return (
    <span className="countdown" role="timer" aria-live="off" dir="auto" data-soon={left < 60}>
      {words.timeLeft(Math.floor(left / 60), left % 60)}
    </span>
  );
}

function secondsUntil(until: string, now: () => number): number {
  return Math.max(0, Math.round((Date.parse(until) - now()) / 1_000));
}
