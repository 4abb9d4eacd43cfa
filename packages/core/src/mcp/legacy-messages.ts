/**
 * Messages of the old era about questions, in both directions. During a call, a server sends requests and notifications:
 * questions, that it no longer waits for one, that a page is done. Or it refuses a call until the user has visited pages
 * (error `-32042`).
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { Capabilities, Action } from '../elicitation/elicitation.ts';
import type { QuestionAnswer, ServerQuestion } from './input-required.ts';
import { maxKeyLength, readQuestion } from './read-question.ts';
import type { ReadInputRequired, ReadQuestion } from './read-question.ts';

export type ServerMessage =
  | { kind: 'question'; question: ServerQuestion }
  /** The question cannot be shown: `refusal` is to be sent to the server. */
  | { kind: 'unaskable'; reason: string; refusal: JSONRPCMessage }
  /** The server no longer waits for this question. */
  | { kind: 'withdrawn'; key: string }
  | { kind: 'page-done'; pageId: string };

const invalidParams = -32602;

/** Null for all other messages. */
export function readServerMessage(message: JSONRPCMessage, capabilities: Capabilities): ServerMessage | null {
  if (!('method' in message)) return null;
  const params: Record<string, unknown> = { ...message.params };
  switch (message.method) {
    case 'elicitation/create':
      return 'id' in message ? readQuestionRequest(message.id, params, capabilities) : null;
    case 'notifications/cancelled':
      return { kind: 'withdrawn', key: JSON.stringify(params['requestId'] ?? null) };
    case 'notifications/elicitation/complete':
      return { kind: 'page-done', pageId: textIn(params['elicitationId']) };
    default:
      return null;
  }
}

function readQuestionRequest(
  id: string | number,
  params: Record<string, unknown>,
  capabilities: Capabilities,
): ServerMessage {
  const read: ReadQuestion =
    String(id).length > maxKeyLength
      ? { kind: 'refused', reason: 'the id of its question is too long' }
      : readQuestion(params, capabilities);
  if (read.kind === 'refused') {
    const error = { code: invalidParams, message: `Nobody can be asked this: ${read.reason}.` };
    return { kind: 'unaskable', reason: read.reason, refusal: { jsonrpc: '2.0', id, error } };
  }
  const pageId = params['elicitationId'];
  const { progressToken } = (params['_meta'] ?? {}) as { progressToken?: unknown };
  const hasToken = typeof progressToken === 'string' || typeof progressToken === 'number';
  return {
    kind: 'question',
    question: {
      key: JSON.stringify(id),
      request: read.request,
      ...(typeof pageId === 'string' && read.request.mode === 'url' && { pageId }),
      ...(hasToken && { progressToken }),
    },
  };
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function isAnswerTo(callId: string | number, message: JSONRPCMessage): boolean {
  return !('method' in message) && message.id === callId;
}

/** The response to the server's request. */
export function toResponse({ key, action, content }: QuestionAnswer): JSONRPCMessage {
  const result: { action: Action; content?: Record<string, unknown> } = {
    action,
    ...(content !== undefined && { content }),
  };
  return { jsonrpc: '2.0', id: JSON.parse(key) as string | number, result };
}

/** Reports that the user is still being asked; null when the server takes no progress. `count` has to grow. */
export function toProgress({ progressToken }: ServerQuestion, count: number): JSONRPCMessage | null {
  if (progressToken === undefined) return null;
  return { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: count } };
}

/** The response to a request that is not about questions: a ping is answered, nothing else is supported. */
export function toDefaultResponse(message: JSONRPCMessage): JSONRPCMessage | null {
  if (!('method' in message) || !('id' in message)) return null;
  return message.method === 'ping'
    ? { jsonrpc: '2.0', id: message.id, result: {} }
    : { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'Method not found' } };
}

const maxPages = 20;

const dataSchema = z.looseObject({
  elicitations: z
    .array(z.looseObject({ elicitationId: z.string().min(1) }))
    .min(1)
    .max(maxPages),
});

/**
 * `data`: of the error `-32042` (2025-11-25). The call is made again once the pages are done. Each page has an
 * `elicitationId`, which the notification that it is done names, too.
 */
export function readRequiredPages(data: unknown, capabilities: Capabilities): ReadInputRequired {
  const parsed = dataSchema.safeParse(data);
  if (!parsed.success)
    return { kind: 'unaskable', reason: 'it wants the user to open pages, but does not say which' };
  const questions = [];
  for (const page of parsed.data.elicitations) {
    const read = readQuestion({ ...page, mode: 'url' }, capabilities);
    if (read.kind === 'refused') return { kind: 'unaskable', reason: read.reason };
    const { elicitationId } = page;
    questions.push({ key: elicitationId, pageId: elicitationId, request: read.request });
  }
  return { kind: 'pause', pause: { questions, resume: { kind: 'again' } } };
}
