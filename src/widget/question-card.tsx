/** A question of the service to the person in front of the widget, and what became of it. */
import { useRef } from 'react';
import type { ElicitationRequest } from '../contract/elicitation.ts';
import { askerTitle, whoAsks } from '../elicitation/asker.ts';
import type { Answering } from './answering.ts';
import { Countdown } from './countdown.tsx';
import { isApproval } from '../elicitation/approval.ts';
import { ApprovalQuestion } from './approval-question.tsx';
import { FormQuestion } from './form-question.tsx';
import { Icon } from './icon.tsx';
import { isComposing } from './is-composing.ts';
import { SettledQuestion } from './settled-question.tsx';
import { toolName } from './tool-call.tsx';
import { UrlQuestion } from './url-question.tsx';
import { useAnswer } from './use-answer.ts';
import { useKeptFocus } from './use-kept-focus.ts';
import { useKeptRoom } from './use-kept-room.ts';
import type { Words } from './words.ts';

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
  // Closing it decides nothing: that is another answer than “not now”.
  const dismiss = () => void answer.send({ action: 'cancel' });
  // A server's form cannot look like this one, whatever it says.
  const isOurs = isApproval(context);
  const tool =
    isOurs || context.toolName === undefined ? '' : ` ${words.needsTool(toolName(context.toolName))}`;
  return (
    <section
      className={isOurs ? 'card approval' : 'card'}
      ref={card}
      id={id}
      tabIndex={-1}
      // Several of one server would be landmarks of the same name.
      role="group"
      aria-labelledby={`${id}-title ${id}-message`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || isComposing(event)) return;
        // Around it may be a panel that Escape closes: one thing at a time.
        event.stopPropagation();
        // What somebody has written is not lost to one key: Escape leads to the button first.
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
