/** Problem documents with an additional member `error`, as OpenAI clients expect it. */
import type { FastifyInstance } from 'fastify';
import { problemFor, sendProblem } from '../http/answer-with-problems.ts';
import { ProblemError } from '../http/problems.ts';
import type { FieldError } from '../http/problems.ts';

export interface OpenAIError {
  message: string;
  type: 'invalid_request_error' | 'authentication_error' | 'rate_limit_error' | 'server_error';
  param: string | null;
  code: string;
}

/** For every route of `fastify` and below. */
export function answerWithOpenAIErrors(fastify: FastifyInstance): void {
  fastify.setErrorHandler((error, request, reply) => {
    const problem = problemFor(error, request);
    const { code, message, members, headers } = problem;
    const both = { error: toOpenAIError(problem), ...members };
    return sendProblem(reply, new ProblemError(code, message, { members: both, headers }));
  });
}

function toOpenAIError({ code, statusCode, message, members }: ProblemError): OpenAIError {
  const [first] = (members['errors'] ?? []) as FieldError[];
  return {
    message,
    type: typeOf(statusCode),
    param: first ? toParam(first.pointer) : null,
    code: code === 'unknown_agent' ? 'model_not_found' : code,
  };
}

function typeOf(status: number): OpenAIError['type'] {
  if (status === 401) return 'authentication_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

/** `/messages/0/content` → `messages[0].content`; null for the whole body. */
export function toParam(pointer: string): string | null {
  const [, ...keys] = pointer.split('/').map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const [first, ...rest] = keys;
  if (first === undefined) return null;
  return first + rest.map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`)).join('');
}
