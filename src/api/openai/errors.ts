/** Errors as OpenAI clients expect them, in a member `error` of the problem document. */
import type { FastifyInstance } from 'fastify';
import { problemFor, sendProblem, ProblemError } from '../http/problems.ts';
import type { FieldError, ProblemCode } from '../http/problems.ts';
import type { ServiceErrorCode } from '../../service/service-error.ts';

export interface OpenAIError {
  message: string;
  type: 'invalid_request_error' | 'authentication_error' | 'rate_limit_error' | 'server_error';
  param: string | null;
  code: string;
}

interface Kind {
  type: OpenAIError['type'];
  /** OpenAI's own code, if it has one. */
  code?: string;
}

const broken: Kind = { type: 'server_error' };

/** For every other code, the request is at fault. */
const kinds: Partial<Record<ServiceErrorCode | ProblemCode, Kind>> = {
  unauthenticated: { type: 'authentication_error' },
  unknown_agent: { type: 'invalid_request_error', code: 'model_not_found' },
  rate_limited: { type: 'rate_limit_error' },
  internal: broken,
  unavailable: broken,
};

/** For every route of `fastify` and below. */
export function answerWithOpenAIErrors(fastify: FastifyInstance): void {
  fastify.setErrorHandler((error, request, reply) => {
    const problem = problemFor(error, request);
    const { code, message, members, headers } = problem;
    const both = { error: toOpenAIError(problem), ...members };
    return sendProblem(reply, new ProblemError(code, message, { members: both, headers }));
  });
}

function toOpenAIError({ code, message, members }: ProblemError): OpenAIError {
  const kind = kinds[code] ?? { type: 'invalid_request_error' };
  const [first] = (members['errors'] ?? []) as FieldError[];
  return {
    message,
    type: kind.type,
    param: first ? toParam(first.pointer) : null,
    code: kind.code ?? code,
  };
}

/** `/messages/0/content` → `messages[0].content`; null for the whole body. */
export function toParam(pointer: string): string | null {
  const [, ...keys] = pointer.split('/').map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const [first, ...rest] = keys;
  if (first === undefined) return null;
  return first + rest.map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`)).join('');
}
