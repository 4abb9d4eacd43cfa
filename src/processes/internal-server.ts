/**
 * What operators' programs ask a process, on a port apart from everything public: whether it runs, and whether it can do its
 * work. It answers while the process still waits for the database or Temporal. Other routes for operators belong here, too.
 */
import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { answerWithProblems } from '../api/http/answer-with-problems.ts';
import { healthRoutes } from '../api/http/health.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Readiness } from '../service/readiness.ts';

export interface InternalServer {
  app: FastifyInstance;
  /** What `/readyz` says from now on. */
  report(readiness: () => Promise<Readiness>): void;
}

/** Listens where `INTERNAL_PORT` says, until the stack is disposed; without it nothing listens. */
export async function startInternalServer(
  { internal }: Pick<Config, 'internal'>,
  stack: AsyncDisposableStack,
): Promise<InternalServer> {
  let readiness = async (): Promise<Readiness> => ({
    notReady: [{ name: 'database', detail: 'the process is starting' }],
    warnings: [],
  });
  const app = Fastify();
  answerWithProblems(app);
  healthRoutes(app, { readiness: () => readiness() });
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
