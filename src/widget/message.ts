/** What is said in a conversation, as `useChat` keeps it. */
import type { DynamicToolUIPart, UIMessage } from 'ai';
import type { ElicitationRequest } from '../contract/elicitation.ts';
import type { ToolAuthRequired } from '../contract/notice.ts';

/** A type, because the SDK wants one that could hold more. */
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

/** Those that are in the message themselves; nothing is fetched from anywhere. */
export function imagesOf({ parts }: Message): string[] {
  return parts.flatMap((part) =>
    part.type === 'file' && part.url.startsWith('data:image/') ? [part.url] : [],
  );
}

/** Oldest first, each as it stands now. */
export function questionsIn(messages: readonly Message[]): ElicitationRequest[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'data-elicitation-request' ? [part.data] : [])),
  );
}

/** Those that wait for an answer. */
export function openQuestions(messages: readonly Message[]): ElicitationRequest[] {
  return questionsIn(messages).filter(({ status }) => status === 'pending');
}

/** Nothing of it is to be seen. */
export function isSilent({ parts }: Message): boolean {
  return parts.every((part) => part.type === 'step-start' || part.type === 'reasoning');
}
