/**
 * A request that failed because the database is away is told so. Drivers report that in many shapes, so the
 * database itself is asked: if it does not answer now, it was not the request's fault.
 */
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../../service/service-error.ts';
import { withTimeout } from '../../time/with-timeout.ts';
import { ProblemError } from './problems.ts';

interface Database {
  /** Rejects when it does not answer. */
  ping(): Promise<void>;
}

const answersWithinMs = 1_000;

export function explainDatabaseTrouble(fastify: FastifyInstance, database: Database): void {
  fastify.setErrorHandler(async (error) => {
    const isOurs = error instanceof ProblemError || error instanceof ServiceError || hasClientStatus(error);
    if (isOurs || (await answers(database))) throw error;
    const detail = 'The database cannot be reached. Try again in a few seconds.';
    throw new ProblemError('unavailable', detail, { headers: { 'retry-after': '5' }, cause: error });
  });
}

function hasClientStatus(error: unknown): boolean {
  return (
    error instanceof Error &&
    'statusCode' in error &&
    typeof error.statusCode === 'number' &&
    error.statusCode < 500
  );
}

async function answers(database: Database): Promise<boolean> {
  const pong = database.ping().then(
    () => true,
    () => false,
  );
  return withTimeout(pong, answersWithinMs, false);
}
