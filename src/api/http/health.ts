/**
 * `/healthz`: this process runs. `/readyz`: it can work, or what is missing. While the database and Temporal belong to different
 * installations, only these are answered.
 */
import type { FastifyInstance } from 'fastify';
import { NotReadySchema, ReadySchema, RunningSchema } from '@interlude-ai/core/contract/operators.ts';
import type { Service } from '../../service/service.ts';
import { describeRoute, json } from './describe-route.ts';
import { ProblemError } from './problems.ts';
import type { Refuse } from './problems.ts';
import { withSchemas } from './validation.ts';

export function healthRoutes(fastify: FastifyInstance, service: Pick<Service, 'readiness'>): void {
  const routes = withSchemas(fastify);
  const alive = describeRoute({
    tag: 'service',
    id: 'getHealth',
    summary: 'Whether this process runs',
    response: { 200: json('It runs', RunningSchema) },
    isPublic: true,
  });
  routes.get('/healthz', { schema: alive }, () => ({ status: 'ok' }));

  const ready = describeRoute({
    tag: 'service',
    id: 'getReadiness',
    summary: 'Whether this process can do its work',
    response: {
      200: json('It can, perhaps without something that it can do without for a while', ReadySchema),
      503: json('What it lacks', NotReadySchema),
    },
    isPublic: true,
  });
  routes.get('/readyz', { schema: ready }, async (_, reply) => {
    const { notReady, warnings } = await service.readiness();
    reply.header('cache-control', 'no-store');
    return notReady.length === 0
      ? { status: 'ready', warnings }
      : reply.code(503).send({ status: 'not ready', notReady, warnings });
  });
}

export const health = ['/healthz', '/readyz'];
const apart =
  'The service waits for its operator: its database and its workflow engine do not belong together. The operator reads at /readyz what to do.';

export function refuseWhileApart(fastify: FastifyInstance, { installation }: Service, refuse: Refuse): void {
  if (!installation) return;
  const problem = new ProblemError('unavailable', apart, { headers: { 'retry-after': '30' } });
  // Not thrown, because each would be logged, and the reason is already in the log.
  fastify.addHook('onRequest', async (request, reply) => {
    if (installation.lack() !== null && !health.includes(request.routeOptions.url ?? ''))
      return refuse(request, reply, problem);
    return undefined;
  });
}

/** Calls `begin` once the database and Temporal belong together, unless the server closes before. */
export function whenTogether(fastify: FastifyInstance, { installation }: Service, begin: () => void): void {
  const closing = new AbortController();
  fastify.addHook('onReady', async () => {
    if (!installation) return begin();
    void installation.untilTogether(closing.signal).then(begin, () => undefined);
  });
  fastify.addHook('onClose', async () => closing.abort());
}
