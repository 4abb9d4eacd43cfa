/** Reads what `useChat` posts: a message that starts a turn, or an answer to a question. Pure. */
import {
  ElicitationResponsePartSchema,
  PageContextPartSchema,
  ToolApprovalPartSchema,
} from '@interlude-ai/core/contract/chat.ts';
import type { ChatRequest } from '@interlude-ai/core/contract/chat.ts';
import { toPageContextPart } from '../../turn/message-parts.ts';
import { givenImage } from '../http/given-image.ts';
import { invalidRequest } from '../http/problems.ts';
import { parseInput } from '../http/validation.ts';
import type { FieldError } from '../http/problems.ts';
import { fromPosted } from '../http/receipt.ts';
import type { AnswerRequest } from '../../service/answer-question.ts';
import type { GivenMessage } from '../../service/take-images.ts';

type Message = ChatRequest['messages'][number];
type Part = Message['parts'][number];

type PostedAnswer = Pick<AnswerRequest, 'conversation' | 'elicitationId' | 'response' | 'source'>;

export type Posted =
  /** The text and images of the conversation, ending with the new user message. */
  | { kind: 'message'; messages: GivenMessage[] }
  /** `pointer`: its place in the body. */
  | { kind: 'answer'; answer: PostedAnswer; pointer: string };

/** Only the last message is new. Throws a 400 that points at what is wrong. */
export function readPosted(body: ChatRequest): Posted {
  const { messages } = body;
  const at = `/messages/${messages.length - 1}`;
  const last = messages.at(-1);
  const approval = last?.role === 'assistant' ? approvalIn(body, last.parts, at) : undefined;
  if (approval) return { kind: 'answer', ...approval };
  if (last?.role !== 'user')
    throw invalidRequest([{ pointer: `${at}/role`, detail: "the last message has to be the user's" }]);
  const answer = last.parts.findIndex(isAnswerPart);
  return answer === -1
    ? { kind: 'message', messages: givenMessages(body, newMessage(last, at)) }
    : { kind: 'answer', ...givenAnswer(body, last.parts, { index: answer, at }) };
}

/** Whether `readPosted` reads it as an answer, or refuses it as one. */
export function isAnswer({ messages }: ChatRequest): boolean {
  const { role, parts = [] } = messages.at(-1) ?? {};
  return role === 'assistant' ? parts.some(isApprovalPart) : parts.some(isAnswerPart);
}

function givenMessages({ id, messages, trigger }: ChatRequest, asked: GivenMessage): GivenMessage[] {
  // An existing conversation already has everything before the last message.
  const history = id === undefined ? messages.slice(0, -1).flatMap(toHistory) : [];
  // A new id, because under the old one it would join the turn that it is meant to repeat.
  return [...history, trigger === 'regenerate-message' ? { ...asked, id: undefined } : asked];
}

function newMessage(message: Message, at: string): GivenMessage {
  const content = message.parts.flatMap((part, index) => saidIn(part, `${at}/parts/${index}`));
  if (content.length === 0)
    throw invalidRequest([{ pointer: `${at}/parts`, detail: 'the message has no text and no image' }]);
  return { id: message.id, role: 'user', content: [...content, ...contextOf(message.parts, at)] };
}

/** The page context comes after the text, wherever it was in the message. */
function contextOf(parts: Part[], at: string): GivenMessage['content'] {
  const [given, ...others] = parts.flatMap((part, index) => (isContext(part) ? [{ part, index }] : []));
  if (!given) return [];
  if (others.length > 0) {
    const detail = 'a message has one context; say it all in the first';
    throw invalidRequest(others.map(({ index }) => ({ pointer: `${at}/parts/${index}`, detail })));
  }
  const { text } = parseInput(PageContextPartSchema, given.part, `${at}/parts/${given.index}`).data;
  return text.trim() === '' ? [] : [toPageContextPart(text)];
}

function givenAnswer(
  { id, trigger }: ChatRequest,
  parts: Part[],
  { index, at }: { index: number; at: string },
): { answer: PostedAnswer; pointer: string } {
  const beside = parts.flatMap((part, other): FieldError[] => {
    if (other === index || !saysSomething(part)) return [];
    return [{ pointer: `${at}/parts/${other}`, detail: 'send this and the answer in separate messages' }];
  });
  if (beside.length > 0) throw invalidRequest(beside);
  if (id === undefined)
    throw invalidRequest([{ pointer: '/id', detail: 'say in which conversation the question was asked' }]);
  if (trigger === 'regenerate-message')
    throw invalidRequest([{ pointer: '/trigger', detail: 'there is nothing to repeat about an answer' }]);
  const part = parseInput(ElicitationResponsePartSchema, parts[index], `${at}/parts/${index}`);
  const { elicitationId, ...posted } = part.data;
  return {
    answer: { conversation: id, elicitationId, response: fromPosted(posted), source: posted.source },
    pointer: `${at}/parts/${index}/data`,
  };
}

/**
 * After `addToolApprovalResponse` the SDK sends the assistant's message with the person's decision in a tool part. The last one
 * is new.
 */
function approvalIn(
  { id }: ChatRequest,
  parts: Part[],
  at: string,
): { answer: PostedAnswer; pointer: string } | undefined {
  const index = parts.findLastIndex(isApprovalPart);
  if (index === -1) return undefined;
  const pointer = `${at}/parts/${index}`;
  if (id === undefined)
    throw invalidRequest([{ pointer: '/id', detail: 'say in which conversation the question was asked' }]);
  const { approval } = parseInput(ToolApprovalPartSchema, parts[index], pointer);
  const reason = approval.reason || undefined;
  const response = approval.approved
    ? ({ action: 'accept' } as const)
    : ({ action: 'decline', ...(reason && { reason }) } as const);
  return {
    answer: { conversation: id, elicitationId: approval.id, response },
    pointer: `${pointer}/approval`,
  };
}

function isAnswerPart({ type }: Part): boolean {
  return type === 'data-elicitation-response';
}

function isApprovalPart(part: Part): boolean {
  return part['state'] === 'approval-responded';
}

function isContext({ type }: Part): boolean {
  return type === 'data-page-context';
}

/** Other parts are for the client's own use. */
function saysSomething(part: Part): boolean {
  return isAnswerPart(part) || isContext(part) || part.type === 'file' || textOf([part]).length > 0;
}

/** A client's system message counts as its user's: the agent has its own instructions. */
function toHistory({ role, parts }: Message, index: number): GivenMessage[] {
  const content = parts.flatMap((part, number) =>
    role === 'user' && isImage(part) ? saidIn(part, `/messages/${index}/parts/${number}`) : textOf([part]),
  );
  return content.length === 0 ? [] : [{ role: role === 'assistant' ? 'assistant' : 'user', content }];
}

function saidIn(part: Part, at: string): GivenMessage['content'] {
  return part.type === 'file' ? [givenImage(part['url'], at)] : textOf([part]);
}

/** Other files in earlier messages are ignored. */
function isImage({ type, url }: Part): boolean {
  return type === 'file' && typeof url === 'string' && url.startsWith('data:image/');
}

function textOf(parts: Part[]): GivenMessage['content'] {
  return parts.flatMap((given) => {
    const text = given.type === 'text' ? given['text'] : undefined;
    return typeof text === 'string' && text.trim() !== '' ? [{ type: 'text' as const, text }] : [];
  });
}
