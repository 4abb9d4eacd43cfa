/** Errors that the specification has no error for (who calls, how much, in what form, an outage), in the form of the transport. */
import { toJsonRpcError, toRestErrorBody } from '@a2a-js/sdk/errors';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../../service/service-error.ts';
import { problemFor } from '../http/answer-with-problems.ts';
import type { ProblemCode, ProblemError } from '../http/problems.ts';

export function jsonRpcErrorOf(error: unknown, isLegacy: boolean) {
  if (error instanceof ServiceError && error.code === 'unavailable') {
    const { message, details } = error;
    return unavailable(
      message,
      details.retryAfterMs === undefined ? undefined : details.retryAfterMs / 1_000,
    );
  }
  return isLegacy ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error) : toJsonRpcError(error);
}

/** JSON-RPC has words for a body that cannot be read; the rest is told by the HTTP status as well. */
const codes: Partial<Record<ProblemCode, number>> = {
  invalid_request: -32700,
  unsupported_media_type: -32005,
  internal: -32603,
};
const invalidRequest = -32600;
/** Of the range that JSON-RPC leaves to servers, outside of the one that A2A uses. */
const temporarilyUnavailable = -32050;

/** The details are those that Google's APIs give with this status; HTTP says the same in its own terms. */
function unavailable(message: string, retryAfterSeconds: number | undefined) {
  return {
    code: temporarilyUnavailable,
    message,
    data: [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'UNAVAILABLE', domain: 'interlude' },
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
  fastify.setErrorHandler((error, request, reply) => {
    const problem = problemFor(error, request);
    const { code, message, statusCode, headers } = problem;
    const words =
      code === 'unavailable'
        ? unavailable(message, retryAfterOf(problem))
        : { code: codes[code] ?? invalidRequest, message };
    const body = { jsonrpc: '2.0', id: idOf(request.body), error: words };
    return reply.code(statusCode).headers(headers).type('application/json').send(body);
  });
}

export function answerWithRestErrors(fastify: FastifyInstance): void {
  fastify.setErrorHandler((error, request, reply) => {
    const problem = problemFor(error, request);
    return reply
      .code(problem.statusCode)
      .headers(problem.headers)
      .type('application/a2a+json')
      .send(restBodyOf(problem));
  });
}

export function answerWithLegacyRestErrors(fastify: FastifyInstance): void {
  fastify.setErrorHandler((error, request, reply) => {
    const problem = problemFor(error, request);
    const { code, message, statusCode, headers } = problem;
    const body =
      code === 'unavailable'
        ? unavailable(message, retryAfterOf(problem))
        : { code: codes[code] ?? invalidRequest, message };
    return reply.code(statusCode).headers(headers).type('application/json').send(body);
  });
}

function restBodyOf(problem: ProblemError): object {
  const { message, statusCode, code } = problem;
  if (code === 'unavailable') {
    const { data: details } = unavailable(message, retryAfterOf(problem));
    return { error: { code: statusCode, status: 'UNAVAILABLE', message, details } };
  }
  const body = toRestErrorBody(new Error(message), statusCode);
  return JSON.parse(JSON.stringify(body)) as object;
}
