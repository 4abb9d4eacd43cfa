/** `ServiceError`s as errors of the A2A specification (1.0, section 3.3.2), and everything else in the transport's own form. */
import {
  A2AError,
  ContentTypeNotSupportedError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
  toJsonRpcError,
  toRestErrorBody,
} from '@a2a-js/sdk/errors';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../../service/service-error.ts';
import type { ServiceErrorCode } from '../../service/service-error.ts';
import { problemFor } from '../http/problems.ts';
import type { ProblemCode, ProblemError } from '../http/problems.ts';

type TryLater = 'unavailable' | 'rate_limited';

type Make = (message: string) => A2AError;

const malformed: Make = (message) => new RequestMalformedError(message);
const unsupported: Make = (message) => new UnsupportedOperationError(message);
const internal: Make = (message) => new A2AError(message);

const errors = {
  invalid_request: malformed,
  invalid_content: malformed,
  unauthenticated: internal,
  forbidden: unsupported,
  cannot_act_for_users: unsupported,
  person_required: unsupported,
  unknown_agent: malformed,
  unknown_server: malformed,
  conversation_not_found: malformed,
  turn_not_found: malformed,
  turn_in_progress: unsupported,
  message_id_reused: malformed,
  idempotency_key_reused: malformed,
  elicitation_not_found: (message) => new TaskNotFoundError(message),
  approval_not_found: malformed,
  not_your_question: (message) => new TaskNotFoundError(message),
  already_answered: unsupported,
  expired: unsupported,
  images_not_taken: (message) => new ContentTypeNotSupportedError(message),
  too_many_hops: unsupported,
  turn_over: unsupported,
} satisfies Record<Exclude<ServiceErrorCode, TryLater>, Make>;

/**
 * Null for unexpected errors and where the caller has to try again later. The specification has no error for that: the
 * transports answer with their own status and say when to retry.
 */
export function toA2AError(error: unknown): A2AError | null {
  if (error instanceof A2AError) return error;
  if (!(error instanceof ServiceError)) return null;
  const { code, message, details } = error;
  if (isTryLater(code)) return null;
  const issues = details.issues?.map(({ path, detail }) => `${path.join('.')}: ${detail}`) ?? [];
  return errors[code](issues.length > 0 ? issues.join('; ') : wordsOf(code, message, details.turnId));
}

function wordsOf(code: ServiceErrorCode, message: string, turnId: string | undefined): string {
  switch (code) {
    case 'turn_in_progress':
      return `This context is still at work on task ${turnId ?? ''}. Wait for it to end or cancel it, or begin a new context.`;
    case 'idempotency_key_reused':
    case 'message_id_reused':
      return 'This messageId belongs to another message. Choose a new one for each message.';
    case 'conversation_not_found':
      return 'You have no context with this id. Leave contextId out to begin a new one.';
    default:
      return message;
  }
}

/** The error for input that the SDK's codecs cannot read. */
export function unreadable(): A2AError {
  return new RequestMalformedError('What was sent is not in the form that the specification gives it.');
}

function isTryLater(code: ServiceErrorCode | ProblemCode): code is TryLater {
  return code === 'unavailable' || code === 'rate_limited';
}

/** An outage, overload, or a limit. */
export function isForLater(error: unknown): boolean {
  return error instanceof ServiceError && isTryLater(error.code);
}

/** The answer to an unexpected error. */
export function internalError(): A2AError {
  return new A2AError('This was not your fault. Try again; if it keeps happening, tell the operator.');
}

export function jsonRpcErrorOf(error: unknown, isLegacy: boolean) {
  if (error instanceof ServiceError && isTryLater(error.code)) {
    const { code, message, details } = error;
    return tryLater(
      code,
      message,
      details.retryAfterMs === undefined ? undefined : details.retryAfterMs / 1_000,
    );
  }
  return isLegacy ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error) : toJsonRpcError(error);
}

/** The HTTP status says the same. */
const codes: Partial<Record<ProblemCode, number>> = {
  invalid_request: -32700,
  unsupported_media_type: -32005,
  internal: -32603,
};
const invalidRequest = -32600;
/** Codes from JSON-RPC's range for servers, outside A2A's own, and the names that Google's APIs have for both. */
const later = {
  unavailable: { code: -32050, status: 'UNAVAILABLE' },
  rate_limited: { code: -32051, status: 'RESOURCE_EXHAUSTED' },
} satisfies Record<TryLater, unknown>;

/** With the details that Google's APIs send. */
function tryLater(why: TryLater, message: string, retryAfterSeconds: number | undefined) {
  const { code, status: reason } = later[why];
  return {
    code,
    message,
    data: [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'interlude' },
      ...(retryAfterSeconds === undefined ? [] : [retryInfo(retryAfterSeconds)]),
    ],
  };
}

function retryInfo(seconds: number) {
  return { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${Math.ceil(seconds)}s` };
}

function retryAfterOf({ headers }: ProblemError): number | undefined {
  const header = headers['retry-after'];
  return header === undefined ? undefined : Number(header);
}

export function idOf(body: unknown): string | number | null {
  const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

export function answerWithJsonRpcErrors(fastify: FastifyInstance): void {
  answerWith(fastify, 'application/json', (problem, body) => ({
    jsonrpc: '2.0',
    id: idOf(body),
    error: codedErrorOf(problem),
  }));
}

export function answerWithRestErrors(fastify: FastifyInstance): void {
  answerWith(fastify, 'application/a2a+json', restErrorOf);
}

/** For what the specification has no errors for: authentication, limits, bodies that cannot be read, outages. */
function answerWith(
  fastify: FastifyInstance,
  mediaType: string,
  toBody: (problem: ProblemError, requestBody: unknown) => object,
): void {
  fastify.setErrorHandler((error, request, reply) => {
    const problem = problemFor(error, request);
    return reply
      .code(problem.statusCode)
      .headers(problem.headers)
      .type(mediaType)
      .send(toBody(problem, request.body));
  });
}

function codedErrorOf(problem: ProblemError): object {
  const { code, message } = problem;
  return isTryLater(code)
    ? tryLater(code, message, retryAfterOf(problem))
    : { code: codes[code] ?? invalidRequest, message };
}

function restErrorOf(problem: ProblemError): object {
  const { message, statusCode, code } = problem;
  if (isTryLater(code)) {
    const { data: details } = tryLater(code, message, retryAfterOf(problem));
    return { error: { code: statusCode, status: later[code].status, message, details } };
  }
  const body = toRestErrorBody(new Error(message), statusCode);
  return JSON.parse(JSON.stringify(body)) as object;
}
