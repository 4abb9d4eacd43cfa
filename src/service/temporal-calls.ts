/**
 * Calls to Temporal for a waiting caller: each has a deadline, and failures become `unavailable` errors. Also what is known
 * of Temporal's readiness and clock.
 */
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { Logger } from 'pino';
import type { TemporalConfig } from '../platform/config/config.ts';
import type { Storage } from '../storage/storage.ts';
import { ServiceError } from './service-error.ts';
import { isOfTemporal, wasAnswered } from './temporal-errors.ts';
import { routedByTemporal } from '../storage/tables/versions.ts';
import type { Versions } from '../storage/tables/versions.ts';
import { polledBuildIds } from '../platform/temporal/deployment.ts';
import { namespaceProblem, prepareNamespace } from '../platform/temporal/namespace.ts';
import { clockDiffers } from '../platform/telemetry/metrics/instruments.ts';
import { createClockDifference } from '../platform/clock-difference.ts';

export const queryDeadlineMs = 2_000;

export interface TemporalCalls {
  within<T>(ms: number, call: () => Promise<T>): Promise<T>;
  /** The error to throw for a failed call: trouble with Temporal becomes `unavailable`, other errors stay as they are. */
  unavailable(error: unknown, consequence: string): Promise<unknown>;
  readiness: TemporalReadiness;
  /** Resolves when no call is under way. Closing the connection during a call that is being retried crashes the process. */
  idle(): Promise<void>;
}

interface Parts {
  client: Client;
  config: { temporal: Pick<TemporalConfig, 'namespace' | 'taskQueue' | 'deployment'> };
  storage: Storage;
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

interface TemporalReadiness {
  /** Null when turns can start in the namespace; rejects when Temporal does not answer. */
  namespace(): Promise<string | null>;
  /** Null when new turns find a worker, or nothing is known about workers. */
  workers(): Promise<string | null>;
}

export function createTemporalReadiness(
  { connection }: Pick<Client, 'connection'>,
  temporal: Pick<TemporalConfig, 'namespace' | 'taskQueue' | 'deployment'>,
  storage: { versions: Pick<Versions, 'current'>; now: () => number },
): TemporalReadiness {
  const { namespace, taskQueue, deployment } = temporal;
  /** The namespace is set up once, and again after a problem; otherwise it is only checked. */
  let isPrepared = false;

  async function problemOfNamespace(): Promise<string | null> {
    const look = isPrepared ? namespaceProblem : prepareNamespace;
    const problem = await look(connection, namespace);
    isPrepared = problem === null;
    return problem;
  }

  async function problemOfWorkers(): Promise<string | null> {
    const [current, polled] = await Promise.all([
      storage.versions.current(deployment.name),
      polledBuildIds(connection, temporal, storage.now()),
    ]);
    if (polled.size === 0) return `no worker polls task queue "${taskQueue}"; start one (interlude worker)`;
    if (current === routedByTemporal || polled.has(current)) return null;
    return current === null
      ? 'no version of the workflow code is current yet, so no turn starts; the worker that starts makes its version current'
      : `new turns start with version ${current}, which no worker polls for; look into the logs of the workers`;
  }

  return {
    namespace: problemOfNamespace,
    workers: () => problemOfWorkers().catch(() => null),
  };
}

const everyMs = 60_000;
/** A start that took longer is too inexact. */
const slowMs = 2_000;

export interface TemporalClock {
  /**
   * Starts a workflow and compares its start time with this process's clock, at most once a minute, because no call returns
   * Temporal's time. Does not wait for the comparison. No decision depends on it.
   */
  whileStarting(start: () => Promise<WorkflowHandle>): Promise<void>;
  aheadMs(): number | null;
}

export function createTemporalClock(calls: Pick<TemporalCalls, 'within'>, logger: Logger): TemporalClock {
  const difference = createClockDifference('Temporal', logger);
  let dueAt = 0;

  return {
    async whileStarting(start) {
      const [wall, before] = [Date.now(), performance.now()];
      const handle = await start();
      const tookMs = performance.now() - before;
      if (before < dueAt || tookMs > slowMs) return;
      dueAt = before + everyMs;
      const look = async () => {
        const { startTime } = await calls.within(queryDeadlineMs, () => handle.describe());
        const aheadMs = wall + tookMs / 2 - startTime.getTime();
        difference.measured(aheadMs);
        clockDiffers('temporal', aheadMs);
      };
      void look().catch(() => undefined);
    },
    aheadMs: difference.aheadMs,
  };
}
