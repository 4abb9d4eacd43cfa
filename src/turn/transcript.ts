/**
 * Turns the stored messages into a transcript that every model provider accepts. Pure.
 *
 * Providers reject a conversation in which a tool call has no result, a result has no call, or something comes between the
 * two. Turns that were cancelled or superseded leave such gaps. They are closed here, when the transcript is read, so that
 * no writer has to care.
 */
import type { AssistantModelMessage, ModelMessage, ToolCallPart, ToolResultPart, UserModelMessage } from 'ai';
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { withoutLeftOut } from './left-out.ts';
import type { LeftOut } from './left-out.ts';
import { inModelForm, inModelWords, isImagePart, isOfPage, isPageContext } from './message-parts.ts';

interface Stored {
  role: 'user' | 'assistant' | 'tool';
  content: unknown;
  leftOut?: LeftOut | null;
}

type Results = Map<ToolCallPart, ToolResultPart>;

export function toModelMessages(stored: Stored[]): ModelMessage[] {
  // Stored messages were written by us or checked when they came in; streamText checks them again.
  const messages = stored.map((message) => {
    const { role, content } = withoutLeftOut(message);
    return { role, content };
  }) as ModelMessage[];
  const results = matchResults(messages);
  const newest = messages.findLast(({ role }) => role === 'user');
  return messages.flatMap((message) => {
    switch (message.role) {
      case 'user':
        return message.content.length > 0 ? [forModel(message, message === newest)] : [];
      case 'system':
        return message.content.length > 0 ? [message] : [];
      case 'assistant':
        return withResults(message, results);
      case 'tool':
        return [];
      default:
        return message satisfies never;
    }
  });
}

/** Keeps page context only in the newest user message: older context is outdated and costs tokens in every step. */
function forModel(message: UserModelMessage, isNewest: boolean): UserModelMessage {
  if (typeof message.content === 'string') return message;
  const content = message.content.flatMap((part) => {
    if (isImagePart(part)) return [inModelForm(part)];
    if (part.type !== 'text' || !isOfPage(part)) return [part];
    return isNewest && isPageContext(part) ? [{ ...part, text: inModelWords(part.text) }] : [];
  });
  return { ...message, content };
}

/** A result belongs to the nearest earlier call with its id that has no result yet; clients reuse ids between turns. */
function matchResults(messages: ModelMessage[]): Results {
  const open = new Map<string, ToolCallPart>();
  const results: Results = new Map();
  for (const message of messages) {
    if (message.role === 'assistant') for (const call of callsOf(message)) open.set(call.toolCallId, call);
    if (message.role !== 'tool') continue;
    for (const part of message.content) {
      if (part.type !== 'tool-result') continue;
      const call = open.get(part.toolCallId);
      if (call && !results.has(call)) results.set(call, part);
    }
  }
  return results;
}

function withResults(message: AssistantModelMessage, results: Results): ModelMessage[] {
  if (typeof message.content === 'string') return message.content === '' ? [] : [message];
  const calls = callsOf(message);
  const content = message.content.filter((part) => {
    if (part.type === 'text') return part.text !== '';
    return part.type !== 'tool-call' || part.providerExecuted === true || calls.includes(part);
  });
  // Reasoning alone is no message.
  if (!content.some((part) => part.type !== 'reasoning')) return [];
  const spoken: ModelMessage = { ...message, content: content.map(withArguments) };
  if (calls.length === 0) return [spoken];
  return [spoken, { role: 'tool', content: calls.map((call) => results.get(call) ?? withoutResult(call)) }];
}

/** Arguments that are no object, which providers reject, become an empty one. The result of such a call is an error. */
function withArguments<Part extends { type: string }>(part: Part): Part {
  return part.type !== 'tool-call' || ('input' in part && isRecord(part.input))
    ? part
    : { ...part, input: {} };
}

function callsOf({ content }: AssistantModelMessage): ToolCallPart[] {
  if (typeof content === 'string') return [];
  const calls = new Map<string, ToolCallPart>();
  for (const part of content) {
    if (part.type !== 'tool-call' || part.providerExecuted === true || calls.has(part.toolCallId)) continue;
    calls.set(part.toolCallId, part);
  }
  return [...calls.values()];
}

function withoutResult({ toolCallId, toolName }: ToolCallPart): ToolResultPart {
  // The end of the turn stores "outcome unknown" for calls that had started; a call without a result was never sent.
  const value = 'Not run: the turn was cancelled before this tool was called.';
  return { type: 'tool-result', toolCallId, toolName, output: { type: 'error-text', value } };
}
