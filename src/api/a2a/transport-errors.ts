/** Errors that come before a handler (who calls, how much, in what form), in the form of the transport. */
import { toJsonRpcError, toRestErrorBody } from '@a2a-js/sdk/errors';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import type { FastifyInstance } from 'fastify';
import { problemFor } from '../http/answer-with-problems.ts';
import type { ProblemCode, ProblemError } from '../http/problems.ts';

export function jsonRpcErrorOf(error: unknown, isLegacy: boolean) {
  return isLegacy ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error) : toJsonRpcError(error);
}

/** JSON-RPC has words for a body that cannot be read; the rest is told by the HTTP status as well. */
const codes: Partial<Record<ProblemCode, number>> = {
  invalid_request: -32700,
  unsupported_media_type: -32005,
  internal: -32603,
  unavailable: -32603,
};
const invalidRequest = -32600;

export function answerWithJsonRpcErrors(fastify: FastifyInstance): void {
  fastify.setErrorHandler((error, request, reply) => {
    const { code, message, statusCode, headers } = problemFor(error, request);
    const body = { jsonrpc: '2.0', id: null, error: { code: codes[code] ?? invalidRequest, message } };
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
    const { code, message, statusCode, headers } = problemFor(error, request);
    const body = { code: codes[code] ?? invalidRequest, message };
    return reply.code(statusCode).headers(headers).type('application/json').send(body);
  });
}

function restBodyOf(problem: ProblemError): object {
  const body = toRestErrorBody(new Error(problem.message), problem.statusCode);
  return JSON.parse(JSON.stringify(body)) as object;
}
