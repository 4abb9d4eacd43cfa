/** One line for each request, once its response has ended. The pattern of its route and no query: addresses carry ids. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

/** Asked by machines, often. */
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
      // Absent where the request was not signed in, or its route needs no one to be.
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
