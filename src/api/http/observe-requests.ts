/** What operators see of a request: a log line after the response, and a span. Neither has the URL, which contains ids. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { context } from '@opentelemetry/api';
import type { Context } from '@opentelemetry/api';
import type { Config } from '../../platform/config/config.ts';
import { beginRequest } from '../../platform/telemetry/traces/requests.ts';
import { isTracing } from '../../platform/telemetry/traces/tracing.ts';
import { health } from './health.ts';

const quiet: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/widget.js', '/openapi.json']);

export function logAccess(
  fastify: FastifyInstance,
  { logger, level }: { logger: Logger; level: 'info' | 'debug' },
): void {
  fastify.addHook('onRequest', async (request, reply) => {
    const startedAt = performance.now();
    const { method, id: requestId, routeOptions } = request;
    const { url: route } = routeOptions;
    reply.raw.once('close', () => {
      const { statusCode: status, writableFinished } = reply.raw;
      const { conversation = reply.getHeader('x-conversation-id') } = (request.params ?? {}) as {
        conversation?: string;
      };
      // Missing if authentication failed or the route needs none.
      const principal = request.principal as typeof request.principal | undefined;
      logger[quiet.has(route ?? '') ? 'debug' : level](
        {
          method,
          route,
          status,
          durationMs: Math.round(performance.now() - startedAt),
          tenant: principal?.tenant,
          conversation,
          turnId: reply.getHeader('x-turn-id'),
          requestId,
          ...(!writableFinished && { isAborted: true }),
        },
        'request',
      );
    });
  });
}

/** Runs each request in the context of its span. Call it before other hooks are added. */
export function traceRequests(app: FastifyInstance, { trustsCallers }: Config['telemetry']): void {
  const contexts = new WeakMap<FastifyRequest, Context>();

  app.addHook('onRequest', (request, reply, done) => {
    const { url: route } = request.routeOptions;
    if (!isTracing() || health.includes(route ?? '')) return done();
    const { method, headers } = request;
    const begun = beginRequest({ method, route, traceparent: headers['traceparent'] }, trustsCallers);
    // Fastify's `onResponse` does not cover streams.
    reply.raw.once('close', () => begun.end(reply.raw.statusCode));
    contexts.set(request, begun.context);
    context.with(begun.context, done);
  });
  // After the body is parsed, the context would be that of its last chunk.
  app.addHook('preValidation', (request, _reply, done) => {
    const own = contexts.get(request);
    if (own) context.with(own, done);
    else done();
  });
}
