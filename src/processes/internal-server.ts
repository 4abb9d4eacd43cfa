/**
 * What operators' programs ask a process, on a port apart from everything public: whether it runs, whether it can do its
 * work, and its metrics. It answers while the process still waits for the database or Temporal.
 */
import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { answerWithProblems } from '../api/http/answer-with-problems.ts';
import { healthRoutes } from '../api/http/health.ts';
import { ProblemError } from '../api/http/problems.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Readiness } from '../service/readiness.ts';
import type { Metrics } from '../telemetry/metrics/start-metrics.ts';

export interface InternalServer {
  app: FastifyInstance;
  /** What `/readyz` says from now on. */
  report(readiness: () => Promise<Readiness>): void;
}

/** Listens where `INTERNAL_PORT` says, until the stack is disposed; without it nothing listens. */
export async function startInternalServer(
  { internal }: Pick<Config, 'internal'>,
  stack: AsyncDisposableStack,
  metrics: Pick<Metrics, 'scrape'> | null = null,
): Promise<InternalServer> {
  let readiness = async (): Promise<Readiness> => ({
    notReady: [{ name: 'database', detail: 'the process is starting' }],
    warnings: [],
  });
  const app = Fastify();
  answerWithProblems(app);
  healthRoutes(app, { readiness: () => readiness() });
  metricsRoute(app, metrics?.scrape ?? null);
  if (internal) {
    stack.defer(() => app.close());
    try {
      await app.listen(internal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      throw new ConfigError([
        `INTERNAL_PORT: ${internal.port} is taken by another program; choose a free one`,
      ]);
    }
  }
  return { app, report: (given) => void (readiness = given) };
}

function metricsRoute(app: FastifyInstance, scrape: Metrics['scrape']): void {
  app.get('/metrics', async (_, reply) => {
    if (!scrape)
      throw new ProblemError(
        'not_found',
        'Metrics are off. OTEL_METRICS_EXPORTER=prometheus switches them on.',
      );
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await scrape());
  });
}
