/**
 * Messages of the old era about questions, in both directions. While a call is open, a server sends requests and
 * notifications of its own: questions, that it does not wait for one any more, that a page is done.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Capabilities } from '../../../elicitation/capabilities.ts';
import type { Action } from '../../../elicitation/elicitation.ts';
import type { QuestionAnswer, ServerQuestion } from '../../input-required.ts';
import { maxKeyLength, readQuestion } from '../../read-question.ts';
import type { ReadQuestion } from '../../read-question.ts';

export type ServerMessage =
  | { kind: 'question'; question: ServerQuestion }
  /** Nobody can be asked this: `refusal` is to be sent to the server. */
  | { kind: 'unaskable'; reason: string; refusal: JSONRPCMessage }
  /** The server does not wait for this question any more. */
  | { kind: 'withdrawn'; key: string }
  | { kind: 'page-done'; pageId: string };

const invalidParams = -32602;

/** Null for everything that is not about questions. */
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

/** The server's answer to our call, which ends it. */
export function isAnswerTo(callId: string | number, message: JSONRPCMessage): boolean {
  return !('method' in message) && message.id === callId;
}

/** The answer as the server awaits it: the response to its own request. */
export function toResponse({ key, action, content }: QuestionAnswer): JSONRPCMessage {
  const result: { action: Action; content?: Record<string, unknown> } = {
    action,
    ...(content !== undefined && { content }),
  };
  return { jsonrpc: '2.0', id: JSON.parse(key) as string | number, result };
}

/** Reports that somebody is still thinking; null when the server takes no progress. `count` has to grow. */
export function toProgress({ progressToken }: ServerQuestion, count: number): JSONRPCMessage | null {
  if (progressToken === undefined) return null;
  return { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: count } };
}

/** Answers a request that is not about questions, where no SDK does: a ping is answered, nothing else is supported. */
export function toDefaultResponse(message: JSONRPCMessage): JSONRPCMessage | null {
  if (!('method' in message) || !('id' in message)) return null;
  return message.method === 'ping'
    ? { jsonrpc: '2.0', id: message.id, result: {} }
    : { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'Method not found' } };
}
