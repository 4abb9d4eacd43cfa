/**
 * A codec server for Temporal's UI: decrypts the sealed payloads of tools in TypeScript. From a browser, only the UI's origin may call
 * it, with the operator's session or access token. It does not encrypt.
 */
import cors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { operatorOf } from '../../../service/operators.ts';
import type { Principal } from '../../../service/principal.ts';
import { ServiceError } from '../../../service/service-error.ts';
import type { PageContext } from '../context.ts';
import { sendProblem, problemFor } from '../../http/problems.ts';
import { parseInput } from '../../http/validation.ts';
import { principalOf } from '../login/session.ts';

const payloadsSchema = z.looseObject({
  payloads: z.array(
    z.looseObject({ metadata: z.record(z.string(), z.string()).optional(), data: z.string().optional() }),
  ),
});
/** Temporal's limit for a payload is 2 MB, and the UI sends all of an event at once. */
const bodyLimit = 8 * 1024 * 1024;

export async function codecRoutes(
  fastify: FastifyInstance,
  { authenticate, openPayloads, sessions, refusals }: PageContext,
  uiUrl: string,
): Promise<void> {
  const { origin } = new URL(uiUrl);
  fastify.setErrorHandler(async (error, request, reply) => {
    const problem = problemFor(error, request);
    if (problem.statusCode < 500)
      await refusals.record(request, `payloads of Temporal: ${problem.code}`, { isRepeatable: true });
    return sendProblem(reply, problem);
  });
  await fastify.register(cors, {
    origin: [origin],
    credentials: true,
    methods: ['POST'],
    allowedHeaders: ['content-type', 'authorization', 'x-namespace'],
    strictPreflight: false,
  });

  async function caller(request: FastifyRequest): Promise<Principal> {
    const [, bearer] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
    if (bearer !== undefined) return authenticate({ bearer, address: request.ip });
    const session = sessions.read(request);
    // Browsers send cookies for every page of the same site, so check the origin.
    if (session && request.headers.origin === origin) return principalOf(session);
    throw new ServiceError('unauthenticated', 'Sign in at /operators, then load this page again.');
  }

  fastify.post('/decode', { bodyLimit }, async (request, reply) => {
    const by = operatorOf(await caller(request), request.ip);
    const { payloads } = parseInput(payloadsSchema, request.body);
    reply.header('cache-control', 'no-store');
    return { payloads: await openPayloads(by, payloads) };
  });
}
