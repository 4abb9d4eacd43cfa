/** The messages of a conversation, as `useChat` keeps them. */
import type { DynamicToolUIPart, UIMessage } from 'ai';
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import type { ToolAuthRequired } from '@interlude-ai/core/contract/stream-event.ts';

/** A type and not an interface, because the SDK requires an index signature. */
type Data = {
  'elicitation-request': ElicitationRequest;
  'tool-auth-required': ToolAuthRequired;
};

export type Message = UIMessage<unknown, Data>;
export type MessagePart = Message['parts'][number];
export type ToolPart = DynamicToolUIPart;

export function textOf({ parts }: Message): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
}

/** Only images that are contained in the message: nothing is loaded. */
export function imagesOf({ parts }: Message): string[] {
  return parts.flatMap((part) =>
    part.type === 'file' && part.url.startsWith('data:image/') ? [part.url] : [],
  );
}

/** Oldest first, each with its current status. */
export function questionsIn(messages: readonly Message[]): ElicitationRequest[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'data-elicitation-request' ? [part.data] : [])),
  );
}

export function openQuestions(messages: readonly Message[]): ElicitationRequest[] {
  return questionsIn(messages).filter(({ status }) => status === 'pending');
}

/** Whether the message shows nothing. */
export function isSilent({ parts }: Message): boolean {
  return parts.every((part) => part.type === 'step-start' || part.type === 'reasoning');
}
