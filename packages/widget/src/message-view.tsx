import { isWaitingFor } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ToolAuthRequired } from '@interlude-ai/core/contract/stream-event.ts';
import type { Answering } from './use-answer.ts';
import { ConnectLink } from './settled-question.tsx';
import { Icon } from './icon.tsx';
import { imagesOf, openQuestions, textOf } from './message.ts';
import type { Message, MessagePart, ToolPart } from './message.ts';
import { QuestionCard } from './question-card.tsx';
import { Markdown } from './text.tsx';
import { ToolCall } from './tool-call.tsx';
import type { Words } from '@interlude-ai/core/elicitation/words.ts';

interface Props {
  message: Message;
  answering: Answering;
  now: () => number;
  words: Words;
  askAgain: (() => void) | undefined;
}

export function MessageView(props: Props) {
  const { message, words } = props;
  const isUser = message.role === 'user';
  return (
    <article className={`message ${message.role}`} aria-label={isUser ? words.you : words.agent}>
      {isUser ? (
        <p className="bubble" dir="auto">
          {imagesOf(message).map((url, index) => (
            <img key={index} src={url} alt={words.image} />
          ))}
          {textOf(message)}
        </p>
      ) : (
        message.parts.map((part, index) => <PartView key={keyOf(part, index)} {...props} part={part} />)
      )}
    </article>
  );
}

function PartView({ message, part, answering, now, words, askAgain }: Props & { part: MessagePart }) {
  switch (part.type) {
    case 'text':
      return <Markdown text={part.text} />;
    case 'dynamic-tool':
      return <ToolCall part={part} isWaiting={isAsking(message, part)} words={words} />;
    case 'data-elicitation-request':
      return <QuestionCard question={part.data} {...{ answering, now, words, askAgain }} />;
    case 'data-tool-auth-required':
      return (
        <p className="settled">
          <Icon name="warning" />
          <span dir="auto">
            <MissingAccount notice={part.data} words={words} />
          </span>
        </p>
      );
    default:
      return null;
  }
}

/** Without a URL, the user cannot connect the account, and the service's message says who can. */
function MissingAccount({ notice, words }: { notice: ToolAuthRequired; words: Words }) {
  const { url, serverTitle, message } = notice;
  if (url === undefined) return message;
  return (
    <>
      {words.missingAccount(serverTitle)} <ConnectLink to={url} server={serverTitle} words={words} />
    </>
  );
}

function isAsking(message: Message, call: ToolPart): boolean {
  return openQuestions([message]).some(({ context }) => isWaitingFor(context, call));
}

function keyOf(part: MessagePart, index: number): string {
  if (part.type === 'dynamic-tool') return part.toolCallId;
  return 'id' in part && typeof part.id === 'string' ? `${part.type} ${part.id}` : String(index);
}
