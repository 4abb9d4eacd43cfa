/** A span for each HTTP request, in whose context it is answered. */
import { context } from '@opentelemetry/api';
import type { Context } from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import { beginRequest } from '../../telemetry/traces/request-spans.ts';
import { isTracing } from '../../telemetry/traces/tracing.ts';
import { health } from './health.ts';

/** To be called before other hooks are added. */
export function traceRequests(app: FastifyInstance, { trustsCallers }: Config['telemetry']): void {
  const contexts = new WeakMap<FastifyRequest, Context>();

  app.addHook('onRequest', (request, reply, done) => {
    const { url: route } = request.routeOptions;
    if (!isTracing() || health.includes(route ?? '')) return done();
    const { method, headers } = request;
    const begun = beginRequest({ method, route, traceparent: headers['traceparent'] }, trustsCallers);
    // Streams end with their connection, which Fastify does not call a response.
    reply.raw.once('close', () => begun.end(reply.raw.statusCode));
    contexts.set(request, begun.context);
    context.with(begun.context, done);
  });
  // What comes after a body runs in the context of its last bytes.
  app.addHook('preValidation', (request, _reply, done) => {
    const own = contexts.get(request);
    if (own) context.with(own, done);
    else done();
  });
}
