/** Why turns cannot go on at Temporal, in words for operators: its namespace is not as it must be, or no worker polls. */
import type { Client } from '@temporalio/client';
import type { TemporalConfig } from '../config/config.ts';
import { routedByTemporal } from '../storage/ports/versions.ts';
import type { Versions } from '../storage/ports/versions.ts';
import { polledBuildIds } from '../temporal/deployment.ts';
import { namespaceProblem, prepareNamespace } from '../temporal/namespace.ts';

export interface TemporalReadiness {
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
  /** Set up once, and again after a problem; otherwise only looked at. */
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
