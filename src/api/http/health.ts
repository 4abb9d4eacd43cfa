/** `/healthz`: this process runs. `/readyz`: it can do its work, and if not, what is missing. */
import type { FastifyInstance } from 'fastify';
import { NotReadySchema, ReadySchema, RunningSchema } from '../../contract/health.ts';
import type { Service } from '../../service/service.ts';
import { describeRoute, json } from './describe-route.ts';
import { withSchemas } from './validation.ts';

export function healthRoutes(fastify: FastifyInstance, service: Pick<Service, 'lacks'>): void {
  const routes = withSchemas(fastify);
  const config = { rateLimit: false as const };
  const alive = describeRoute({
    tag: 'service',
    id: 'getHealth',
    summary: 'Whether this process runs',
    response: { 200: json('It runs', RunningSchema) },
    isPublic: true,
  });
  routes.get('/healthz', { config, schema: alive }, () => ({ status: 'ok' }));

  const ready = describeRoute({
    tag: 'service',
    id: 'getReadiness',
    summary: 'Whether this process can do its work',
    response: { 200: json('It can', ReadySchema), 503: json('What it lacks', NotReadySchema) },
    isPublic: true,
  });
  routes.get('/readyz', { config, schema: ready }, async (_, reply) => {
    const notReady = await service.lacks();
    reply.header('cache-control', 'no-store');
    return notReady.length === 0
      ? { status: 'ready' }
      : reply.code(503).send({ status: 'not ready', notReady });
  });
}
