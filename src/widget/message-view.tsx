import type { Answering } from './answering.ts';
import { Icon } from './icon.tsx';
import { textOf } from './message.ts';
import type { Message, MessagePart } from './message.ts';
import { QuestionCard } from './question-card.tsx';
import { Markdown } from './text.tsx';
import { ToolCall } from './tool-call.tsx';
import type { Words } from './words.ts';

interface Props {
  message: Message;
  answering: Answering;
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
          {textOf(message)}
        </p>
      ) : (
        message.parts.map((part, index) => <PartView key={keyOf(part, index)} {...props} part={part} />)
      )}
    </article>
  );
}

function PartView({ part, answering, words, askAgain }: Props & { part: MessagePart }) {
  switch (part.type) {
    case 'text':
      return <Markdown text={part.text} />;
    case 'dynamic-tool':
      return <ToolCall part={part} words={words} />;
    case 'data-elicitation-request':
      return <QuestionCard question={part.data} {...{ answering, words, askAgain }} />;
    case 'data-tool-auth-required':
      return (
        <p className="settled">
          <Icon name="warning" /> {words.missingAccount(part.data.serverTitle)}
        </p>
      );
    default:
      return null;
  }
}

function keyOf(part: MessagePart, index: number): string {
  if (part.type === 'dynamic-tool') return part.toolCallId;
  return 'id' in part && typeof part.id === 'string' ? `${part.type} ${part.id}` : String(index);
}
