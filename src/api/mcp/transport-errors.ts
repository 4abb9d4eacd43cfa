/**
 * JSON-RPC errors for requests that are refused before the protocol's era is known: authentication, origin, limits, unreadable
 * bodies. The id is the request's, or null if its body was not read.
 */
import type { FastifyInstance } from 'fastify';
import { problemFor, ProblemError } from '../http/problems.ts';
import { errorMessage, idIn } from './legacy/messages.ts';
import { readableRequest } from './readable-request.ts';

const parseError = -32700;
const invalidRequest = -32600;
const internalError = -32603;
/** From JSON-RPC's range for servers; the SDK's servers use it for refusals of HTTP. */
const refused = -32000;

export function answerWithJsonRpcErrors(fastify: FastifyInstance): void {
  fastify.setErrorHandler((error, request, reply) => {
    const problem = problemFor(error, request);
    const id = error instanceof PoisonedBody ? error.id : idIn(request.body);
    const { error: words } = errorMessage(id, codeFor(problem), problem.message);
    return reply
      .code(problem.statusCode)
      .headers(problem.headers)
      .type('application/json')
      .send({ jsonrpc: '2.0', id, error: { ...words, data: { code: problem.code } } });
  });
}

function codeFor({ code, statusCode, cause }: ProblemError): number {
  if (code !== 'invalid_request') return statusCode === 500 ? internalError : refused;
  return cause instanceof SyntaxError ? parseError : invalidRequest;
}

/** Valid JSON with a key that could poison prototypes. */
class PoisonedBody extends ProblemError {
  readonly id: string | number | null;

  constructor(id: string | number | null) {
    super('invalid_request', 'The body has a key that is refused everywhere: __proto__ or constructor.');
    this.id = id;
  }
}

/** Like Fastify's parser, but distinguishes invalid JSON from a refused key. */
export function readJsonBodies(fastify: FastifyInstance): void {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  fastify.removeContentTypeParser('application/json');
  fastify.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const text = body.toString();
    if (text === '' && request.method !== 'POST') return done(null);
    void parse(request, text, (error, parsed) =>
      done(error ? refusalOf(text) : null, readableRequest(parsed)),
    );
  });
}

function refusalOf(text: string): ProblemError {
  try {
    return new PoisonedBody(idIn(JSON.parse(text)));
  } catch (cause) {
    return new ProblemError('invalid_request', 'The body is not JSON.', { cause });
  }
}
