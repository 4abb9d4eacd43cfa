/** Calls to Temporal on behalf of somebody who waits for an answer: each has a deadline, and its failure reads as a 503. */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { TemporalConfig } from '../config/config.ts';
import type { Storage } from '../storage/storage.ts';
import { ServiceError } from './service-error.ts';
import { isOfTemporal, wasAnswered } from './temporal-errors.ts';
import { createTemporalReadiness } from './temporal-readiness.ts';
import type { TemporalReadiness } from './temporal-readiness.ts';

export const queryDeadlineMs = 2_000;

export interface TemporalCalls {
  within<T>(ms: number, call: () => Promise<T>): Promise<T>;
  /** The error to throw for what a call failed with: trouble with Temporal says which; anything else stays what it is. */
  unavailable(error: unknown, consequence: string): Promise<unknown>;
  readiness: TemporalReadiness;
  /** Resolves when no call is under way. Closing the connection under a call that is being retried crashes the process. */
  idle(): Promise<void>;
}

interface Parts {
  client: Client;
  config: { temporal: Pick<TemporalConfig, 'namespace' | 'taskQueue' | 'deployment'> };
  storage: Pick<Storage, 'versions' | 'now'>;
  logger: Logger;
}

export function createTemporalCalls({ client, config, storage, logger }: Parts): TemporalCalls {
  const underWay = new Set<Promise<unknown>>();
  const readiness = createTemporalReadiness(client, config.temporal, storage);

  function within<T>(ms: number, call: () => Promise<T>): Promise<T> {
    const calling = client.withDeadline(Date.now() + ms, call);
    underWay.add(calling);
    const over = () => underWay.delete(calling);
    calling.then(over, over);
    return calling;
  }

  async function unavailable(error: unknown, consequence: string): Promise<unknown> {
    if (!isOfTemporal(error)) return error;
    const lack = wasAnswered(error)
      ? await within(queryDeadlineMs, readiness.namespace).catch(() => null)
      : null;
    if (lack !== null) logger.error(`turns cannot start: ${lack}`);
    const detail =
      lack === null
        ? `The workflow engine cannot be reached. ${consequence} Try again in a few seconds.`
        : `The workflow engine is not set up yet. ${consequence} The operator reads at /readyz what is missing.`;
    return new ServiceError('unavailable', detail, { retryAfterMs: 5_000, cause: error });
  }

  return {
    within,
    unavailable,
    readiness: {
      namespace: () => within(queryDeadlineMs, readiness.namespace),
      workers: () => within(queryDeadlineMs, readiness.workers),
    },
    async idle() {
      await Promise.allSettled(underWay);
    },
  };
}
