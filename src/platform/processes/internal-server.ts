/**
 * The server for operators' programs, on a port of its own: liveness, readiness and metrics. It also answers while the process
 * waits for the database or Temporal.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { answerWithProblems, ProblemError } from '../../api/http/problems.ts';
import { healthRoutes } from '../../api/http/health.ts';
import type { Config } from '../config/config.ts';
import { portsTaken } from '../network/ports.ts';
import type { Readiness } from '../../service/readiness.ts';
import type { Metrics } from '../telemetry/metrics/start-metrics.ts';

export interface InternalServer {
  app: FastifyInstance;
  /** What `/readyz` says from now on. */
  report(readiness: () => Promise<Readiness>): void;
}

/** Listens on `INTERNAL_PORT` until the stack is disposed; without it nothing listens. */
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
      throw await portsTaken([{ variable: 'INTERNAL_PORT', ...internal }]);
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

const lookEveryMs = 2_000;
const startingMs = 5_000;

/** What is missing after everything had time to start; empty if nothing is. */
export async function reasonsAtStart(readiness: () => Promise<Readiness>): Promise<string[]> {
  for (const deadline = performance.now() + startingMs; ; await sleep(100)) {
    const reasons = reasonsIn(await readiness());
    if (reasons.length === 0 || performance.now() > deadline) return reasons;
  }
}

interface Options {
  logger: Logger;
  /** The process, as in `API on http://…`. */
  name: string;
  /** Reasons that were shown already. */
  said?: string[];
}

/** Logs each change until the stack is disposed. */
export function logReadiness(
  readiness: () => Promise<Readiness>,
  { logger, name, said }: Options,
  stack: AsyncDisposableStack,
): void {
  let logged = said?.join('; ');
  const look = async () => {
    const now = await readiness();
    const reasons = reasonsIn(now).join('; ');
    if (reasons === logged) return;
    logged = reasons;
    if (now.notReady.length > 0) logger.warn(`${name} is not ready: ${reasons}`);
    else if (reasons === '') logger.info(`${name} is ready`);
    else logger.warn(`${name} is ready, but: ${reasons}`);
  };
  const stopping = new AbortController();
  const { signal } = stopping;
  const looping = (async () => {
    while (!signal.aborted) {
      await look();
      await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
    }
  })();
  stack.defer(async () => {
    stopping.abort();
    await looping;
  });
}

function reasonsIn({ notReady, warnings }: Readiness): string[] {
  return [...notReady, ...warnings].map(({ detail }) => detail);
}
