/** A question of the service to the person in front of the widget, and what became of it. */
import type { ElicitationRequest } from '../contract/elicitation.ts';
import type { Answering } from './answering.ts';
import { Countdown } from './countdown.tsx';
import { FormQuestion } from './form-question.tsx';
import { Icon } from './icon.tsx';
import { SettledQuestion } from './settled-question.tsx';
import { toolName } from './tool-call.tsx';
import { UrlQuestion } from './url-question.tsx';
import type { Words } from './words.ts';

export interface CardProps {
  question: ElicitationRequest;
  answering: Answering;
  words: Words;
}

export function QuestionCard(props: CardProps & { askAgain: (() => void) | undefined }) {
  const { question, words, askAgain } = props;
  if (question.status !== 'pending') return <SettledQuestion {...{ question, words, askAgain }} />;
  const { context, message, expiresAt, elicitationId } = question;
  const who = [context.agent, ...(context.path ?? [])].join(' → ');
  const tool = context.toolName === undefined ? '' : ` ${words.needsTool(toolName(context.toolName))}`;
  return (
    <section
      className="card"
      id={cardId(elicitationId)}
      tabIndex={-1}
      aria-labelledby={`${cardId(elicitationId)}-title`}
    >
      <header>
        <span className="mark" aria-hidden="true">
          {initialOf(context.serverTitle)}
        </span>
        <div className="who">
          <p className="title" id={`${cardId(elicitationId)}-title`} dir="auto">
            {context.serverTitle}
          </p>
          <p dir="auto">
            {context.host} · {words.askedBy(who)}
            {tool}
          </p>
        </div>
        <Countdown until={expiresAt} words={words} />
      </header>
      <p className="message" dir="auto">
        {message}
      </p>
      {(context.warnings ?? []).map((warning) => (
        <p className="warning" key={warning}>
          <Icon name="warning" /> {words.warnings[warning as keyof Words['warnings']] ?? warning}
        </p>
      ))}
      {question.mode === 'url' ? (
        <UrlQuestion {...props} url={question.url} />
      ) : (
        <FormQuestion {...props} schema={question.requestedSchema} />
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
