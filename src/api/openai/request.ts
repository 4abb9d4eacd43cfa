/** Reads what an OpenAI client posts. Pure. */
import type { ChatCompletionRequest } from '@interlude-ai/core/contract/openai.ts';
import { givenImage } from '../http/given-image.ts';
import { invalidRequest } from '../http/problems.ts';
import type { GivenMessage } from '../../service/take-images.ts';

type Message = ChatCompletionRequest['messages'][number];

/** The text and images of the conversation, ending with the new user message. Throws a 400 that points at what is wrong. */
export function givenMessages({ conversationId, messages }: ChatCompletionRequest): GivenMessage[] {
  const last = messages.length - 1;
  // An existing conversation already has everything before the last message.
  const history = conversationId == null ? messages.slice(0, last) : [];
  return [
    ...history.flatMap((message, index) => toHistory(message, `/messages/${index}`)),
    newMessage(messages[last], `/messages/${last}`),
  ];
}

function newMessage(message: Message | undefined, at: string): GivenMessage {
  if (message?.role !== 'user')
    throw invalidRequest([{ pointer: `${at}/role`, detail: "the last message has to be the user's" }]);
  const content = contentOf(message, at);
  if (content.length === 0)
    throw invalidRequest([{ pointer: `${at}/content`, detail: 'the message has no text and no image' }]);
  return { role: 'user', content };
}

function toHistory(message: Message, at: string): GivenMessage[] {
  switch (message.role) {
    case 'tool':
    case 'function':
      // The caller's own tools are unknown to the agent.
      return [];
    case 'assistant':
      return spoken('assistant', contentOf(message, at));
    case 'system':
    case 'developer':
    case 'user':
      // Instructions of the caller count as the user's: the agent has its own.
      return spoken('user', contentOf(message, at));
    default:
      return message.role satisfies never;
  }
}

function spoken(role: GivenMessage['role'], content: GivenMessage['content']): GivenMessage[] {
  return content.length === 0 ? [] : [{ role, content }];
}

function contentOf({ role, content, ...message }: Message, at: string): GivenMessage['content'] {
  // A refusal is in a part, or beside a content that is null.
  const { refusal } = message;
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const said = role === 'assistant' && parts.length === 0 ? textOf(refusal) : [];
  return parts.reduce(
    (read, part, index) => [...read, ...partOf(part, role, `${at}/content/${index}`)],
    said,
  );
}

function partOf(part: Members, role: Message['role'], place: string): GivenMessage['content'] {
  switch (part['type']) {
    case 'text':
    // Names of the Responses API.
    case 'input_text':
    case 'output_text':
      return textOf(part['text']);
    case 'image_url':
      if (role === 'user') return [givenImage(urlIn(part['image_url']), place)];
      break;
    case 'refusal':
      return textOf(part['refusal']);
    default:
  }
  // Reasoning, calls and images of an assistant are ignored.
  if (role === 'assistant') return [];
  throw invalidRequest([{ pointer: place, detail: 'only text is understood, and images of the user' }]);
}

type Members = Record<string, unknown>;

function textOf(text: unknown): GivenMessage['content'] {
  return typeof text === 'string' && text.trim() !== '' ? [{ type: 'text', text }] : [];
}

function urlIn(image: unknown): unknown {
  return typeof image === 'object' && image !== null && 'url' in image ? image.url : undefined;
}
