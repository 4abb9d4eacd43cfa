/**
 * What is wrong with a request before its era is told apart (who calls, from where, how much, in what form), as JSON-RPC.
 * The id is that of the request, or null where it was refused before its body was read.
 */
import type { FastifyInstance } from 'fastify';
import { problemFor } from '../http/answer-with-problems.ts';
import { ProblemError } from '../http/problems.ts';
import { errorMessage, idIn } from './legacy/messages.ts';
import { readableRequest } from './readable-request.ts';

const parseError = -32700;
const invalidRequest = -32600;
const internalError = -32603;
/** Of the range that is a server's own: what the SDK's servers say where HTTP refuses, or cannot answer now. */
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

/** A body that is JSON, and would be taken for something else by careless code. */
class PoisonedBody extends ProblemError {
  readonly id: string | number | null;

  constructor(id: string | number | null) {
    super('invalid_request', 'The body has a key that is refused everywhere: __proto__ or constructor.');
    this.id = id;
  }
}

/** As Fastify does it, and tells what is no JSON from what is refused for a key in it. */
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
    return new ProblemError('invalid_request', 'The body is no JSON.', { cause });
  }
}
