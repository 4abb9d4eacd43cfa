/** Makes a problem document of whatever a route throws. What is our fault is logged and masked. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../service/service-error.ts';
import { invalidRequest, ProblemError, toProblem } from './problems.ts';

export function sendProblem(reply: FastifyReply, problem: ProblemError): FastifyReply {
  return reply
    .code(problem.statusCode)
    .headers(problem.headers)
    .type('application/problem+json')
    .send(JSON.stringify(problem.toDocument()));
}

/** Makes every error and every unknown route under `fastify` a problem document. */
export function answerWithProblems(fastify: FastifyInstance): void {
  fastify.setErrorHandler((error, request, reply) => sendProblem(reply, problemFor(error, request)));
  fastify.setNotFoundHandler((request, reply) =>
    sendProblem(
      reply,
      new ProblemError(
        'not_found',
        `There is nothing at ${request.method} ${pathOf(request)}.${whereInstead(pathOf(request))}`,
      ),
    ),
  );
}

/** For clients that were given an address with too much or too little in it. */
function whereInstead(path: string): string {
  if (/\/v1(?:\/|$)|completions|responses|models/.test(path))
    return ' OpenAI clients take /run/v1 of this service as their base URL, and post to /run/v1/chat/completions.';
  return /^\/(?:run|api|chat)(?:\/|$)/.test(path) ? ' useChat posts to /run/api/chat.' : '';
}

/** The problem to answer with. Anything that is our fault is logged here, once, and masked. */
export function problemFor(error: unknown, request: FastifyRequest): ProblemError {
  const problem = recognised(error, request);
  if (problem) {
    if (problem.statusCode >= 500)
      request.log.warn({ err: problem }, `answered ${problem.statusCode} ${problem.code}`);
    return problem;
  }
  // A client that leaves before the first byte of its stream: nothing is broken, and nobody is there to be answered.
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

/** Fastify's own 4xx errors (parsing, limits, schemas), in our words. Everything else is not recognised. */
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
      // A parser's own message may quote the body.
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
    case 429:
      return new ProblemError('rate_limited', 'Wait as long as Retry-After says, then try again.');
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
