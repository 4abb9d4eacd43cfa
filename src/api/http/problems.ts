/**
 * Errors of the API as problem documents (RFC 9457). One table; codes are stable and never reused. `detail` is for the reader:
 * what is wrong and what to do, never a token, an answer or a message.
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../service/service-error.ts';
import type { ServiceErrorCode } from '../../service/service-error.ts';

export function sendProblem(reply: FastifyReply, problem: ProblemError): FastifyReply {
  return reply
    .code(problem.statusCode)
    .headers(problem.headers)
    .type('application/problem+json')
    .send(JSON.stringify(problem.toDocument()));
}

export type Refuse = (request: FastifyRequest, reply: FastifyReply, problem: ProblemError) => FastifyReply;

/** Makes every error and every unknown route under `fastify` a problem document. `refuse`: for unknown routes instead. */
export function answerWithProblems(
  fastify: FastifyInstance,
  refuse: Refuse = (_, reply, problem) => sendProblem(reply, problem),
): void {
  fastify.setErrorHandler((error, request, reply) => sendProblem(reply, problemFor(error, request)));
  fastify.setNotFoundHandler((request, reply) =>
    refuse(
      request,
      reply,
      new ProblemError(
        'not_found',
        `There is nothing at ${request.method} ${pathOf(request)}.${whereInstead(pathOf(request))}`,
      ),
    ),
  );
}

/** A browser that opens an address asks for HTML first of all; programs and scripts of pages do not. */
export function isOpenedInBrowser({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && /^\s*text\/html\b/i.test(headers.accept ?? '');
}

/** For clients with a wrong address. */
function whereInstead(path: string): string {
  return /^\/(?:run|api|chat|v1)(?:\/|$)|completions|responses|models/.test(path)
    ? ' useChat posts to /run/api/chat; OpenAI clients take /run/v1 as their base URL. All addresses: GET /openapi.json.'
    : '';
}

/** The problem for an error. Our own faults are logged here, once, and masked. */
export function problemFor(error: unknown, request: FastifyRequest): ProblemError {
  const problem = recognised(error, request);
  if (problem) {
    // Nothing has failed where the service is overloaded: that is in the log once.
    const isOverload = problem.code === 'unavailable' && problem.cause === undefined;
    if (problem.statusCode >= 500 && !isOverload)
      request.log.warn({ err: problem }, `answered ${problem.statusCode} ${problem.code}`);
    return problem;
  }
  // The client left before the first byte of its stream.
  const isLeft = request.raw.socket.destroyed && codeOf(error) === 'ERR_STREAM_PREMATURE_CLOSE';
  request.log[isLeft ? 'debug' : 'error']({ err: error }, 'a request failed');
  return new ProblemError(
    'internal',
    `This was not your fault. Try again; if it keeps happening, tell the operator request ${request.id}.`,
  );
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function recognised(error: unknown, request: FastifyRequest): ProblemError | undefined {
  if (error instanceof ProblemError) return error;
  return error instanceof ServiceError ? toProblem(error) : fromFastify(error, request);
}

/** Fastify's own 4xx errors: parsing, limits, schemas. */
function fromFastify(error: unknown, request: FastifyRequest): ProblemError | undefined {
  if (!isFastifyError(error)) return undefined;
  if (error.validation) {
    return invalidRequest(
      error.validation.map(({ instancePath, message }) => ({
        pointer: instancePath,
        detail: message ?? 'not valid',
      })),
    );
  }
  switch (error.statusCode) {
    case 400:
      // Messages of other parsers may quote the body.
      return new ProblemError(
        'invalid_request',
        error.code?.startsWith('FST_ERR_')
          ? `${error.message}.`
          : 'The body cannot be read; send valid JSON.',
      );
    case 404:
      return new ProblemError('not_found', `There is nothing at ${pathOf(request)}.`);
    case 405:
      return new ProblemError(
        'method_not_allowed',
        `${request.method} is not possible at ${pathOf(request)}.`,
      );
    case 413: {
      const limit = request.routeOptions.bodyLimit;
      return new ProblemError('body_too_large', `The body may have at most ${limit} bytes.`);
    }
    case 415:
      return new ProblemError('unsupported_media_type', 'Send the body as content-type: application/json.');
    default:
      return error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500
        ? new ProblemError('invalid_request', 'The request is not understood; check its address and headers.')
        : undefined;
  }
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number';
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}

export const problems = {
  invalid_request: { status: 400, title: 'The request is not valid' },
  version_mismatch: { status: 400, title: 'Client and service do not fit' },
  unauthenticated: { status: 401, title: 'Sign in first' },
  forbidden: { status: 403, title: 'Not allowed' },
  cannot_act_for_users: { status: 403, title: 'This caller may not act for users' },
  person_required: { status: 403, title: 'Only the person can do this, signed in' },
  not_your_question: { status: 403, title: 'This question was asked of another person' },
  not_found: { status: 404, title: 'Not found' },
  unknown_agent: { status: 404, title: 'There is no such agent' },
  unknown_server: { status: 404, title: 'There is no such connection' },
  turn_not_found: { status: 404, title: 'There is no such turn' },
  conversation_not_found: { status: 404, title: 'There is no such conversation' },
  elicitation_not_found: { status: 404, title: 'There is no such question' },
  approval_not_found: { status: 404, title: 'There is no such approval' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  too_many_hops: { status: 409, title: 'The task was handed on too often' },
  turn_in_progress: { status: 409, title: 'The conversation is busy with a turn' },
  already_answered: { status: 409, title: 'The question has already been answered differently' },
  expired: { status: 410, title: 'The question has expired' },
  turn_cancelled: { status: 410, title: 'The turn ended before it had an answer' },
  turn_over: { status: 410, title: 'The turn that asked is over' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'This content type is not understood' },
  unknown_host: { status: 421, title: 'This is not the name of this service' },
  idempotency_key_reused: { status: 422, title: 'The Idempotency-Key belongs to another request' },
  images_not_taken: { status: 422, title: 'This agent takes no images' },
  message_id_reused: { status: 422, title: 'The message id belongs to another message' },
  invalid_content: { status: 422, title: 'The answer does not fit the question' },
  turn_failed: { status: 424, title: 'The turn failed' },
  turn_unfinished: { status: 424, title: 'The turn goes on, but its answer cannot be waited for here' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Something went wrong on our side' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
} as const satisfies Record<ServiceErrorCode, unknown> & Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

/** `pointer`: JSON pointer into the body or query. */
export interface FieldError {
  pointer: string;
  detail: string;
}

interface ProblemDocument {
  type: string;
  title: string;
  status: number;
  code: ProblemCode;
  detail: string;
  errors?: FieldError[];
  [member: string]: unknown;
}

/** `members` are added to the document, `headers` to the response. */
interface ProblemExtra {
  members?: Record<string, unknown>;
  headers?: Record<string, string>;
  cause?: unknown;
}

export class ProblemError extends Error {
  override name = 'ProblemError';
  readonly code: ProblemCode;
  readonly statusCode: number;
  readonly members: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(code: ProblemCode, detail: string, extra: ProblemExtra = {}) {
    super(detail, { cause: extra.cause });
    this.code = code;
    this.statusCode = problems[code].status;
    this.members = extra.members ?? {};
    this.headers = extra.headers ?? {};
  }

  toDocument(): ProblemDocument {
    const { status, title } = problems[this.code];
    const type = `urn:interlude:problem:${this.code}`;
    return { type, title, status, code: this.code, detail: this.message, ...this.members };
  }
}

/** JSON pointers to the parts of a use case's input, where they differ from the parts' names. */
type Places = Record<string, string>;

function toProblem({ code, message, details, cause }: ServiceError, places: Places = {}): ProblemError {
  if (code === 'unauthenticated') return unauthenticated(message, { reason: 'invalid_token' });
  const { issues, retryAfterMs, turnId, outcome } = details;
  const errors = issues?.map(({ path: [first, ...inner], detail }) => {
    const outer = first === undefined ? '' : (places[first] ?? toPointer([first]));
    return { pointer: outer + toPointer(inner), detail };
  });
  if (code === 'invalid_request' && errors) return invalidRequest(errors);
  return new ProblemError(code, message, {
    members: {
      ...(errors && { errors: firstOf(errors) }),
      ...(turnId !== undefined && { turnId }),
      ...(outcome && { outcome }),
    },
    headers: {
      ...(turnId !== undefined && { 'x-turn-id': turnId }),
      ...(retryAfterMs !== undefined && { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) }),
    },
    cause,
  });
}

/** For `.catch`: makes refusals of a use case point into this request. */
export function pointingTo(places: Places): (error: unknown) => never {
  return (error) => {
    throw error instanceof ServiceError ? toProblem(error, places) : error;
  };
}

interface Challenge {
  /** Set if a token was presented (RFC 6750 §3.1). */
  reason?: 'invalid_token';
  /** URL of the resource metadata (RFC 9728 §5.1). */
  metadata?: string | undefined;
}

export function unauthenticated(detail: string, { reason, metadata }: Challenge = {}): ProblemError {
  const parameters = [
    ...(reason === undefined ? [] : [`error="${reason}"`]),
    ...(metadata === undefined ? [] : [`resource_metadata="${metadata}"`]),
  ];
  const challenge = ['Bearer', parameters.join(', ')].join(' ').trim();
  return new ProblemError('unauthenticated', detail, { headers: { 'www-authenticate': challenge } });
}

export function invalidRequest(errors: FieldError[]): ProblemError {
  const [first] = errors;
  const rest = errors.length > 1 ? ` (and ${errors.length - 1} more; see errors)` : '';
  const detail = first
    ? `${first.pointer || 'the body'}: ${first.detail}${rest}`
    : 'The request is malformed.';
  return new ProblemError('invalid_request', detail, { members: { errors: firstOf(errors) } });
}

/** Limits the size of the response to a body full of mistakes. */
function firstOf(errors: FieldError[]): FieldError[] {
  return errors.slice(0, 50);
}

/** RFC 6901. */
export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
