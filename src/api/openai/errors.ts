/** Errors as OpenAI clients expect them, in a member `error` of the problem document. One table covers every code. */
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

const invalid: Kind = { type: 'invalid_request_error' };
const broken: Kind = { type: 'server_error' };

const kinds = {
  invalid_request: invalid,
  unauthenticated: { type: 'authentication_error' },
  forbidden: invalid,
  cannot_act_for_users: invalid,
  person_required: invalid,
  not_your_question: invalid,
  not_found: invalid,
  unknown_agent: { ...invalid, code: 'model_not_found' },
  unknown_server: invalid,
  conversation_not_found: invalid,
  turn_not_found: invalid,
  elicitation_not_found: invalid,
  approval_not_found: invalid,
  method_not_allowed: invalid,
  turn_in_progress: invalid,
  too_many_hops: invalid,
  already_answered: invalid,
  expired: invalid,
  turn_cancelled: invalid,
  turn_over: invalid,
  body_too_large: invalid,
  unsupported_media_type: invalid,
  unknown_host: invalid,
  idempotency_key_reused: invalid,
  message_id_reused: invalid,
  invalid_content: invalid,
  images_not_taken: invalid,
  turn_failed: invalid,
  turn_unfinished: invalid,
  rate_limited: { type: 'rate_limit_error' },
  internal: broken,
  unavailable: broken,
} satisfies Record<ServiceErrorCode | ProblemCode, Kind>;

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
  const kind: Kind = kinds[code];
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
