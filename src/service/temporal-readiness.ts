/** Why turns cannot go on at Temporal, in words for operators: its namespace is not as it must be, or no worker polls. */
import type { Client } from '@temporalio/client';
import type { TemporalConfig } from '../config/config.ts';
import { isSameVersion, readVersionRouting } from '../temporal/deployment.ts';
import { namespaceProblem, prepareNamespace } from '../temporal/namespace.ts';

export interface TemporalReadiness {
  /** Null when turns can start in the namespace; rejects when Temporal does not answer. */
  namespace(): Promise<string | null>;
  /** Null when new turns find a worker, or nothing is known about workers. */
  workers(): Promise<string | null>;
}

export function createTemporalReadiness(
  { connection }: Pick<Client, 'connection'>,
  temporal: Pick<TemporalConfig, 'namespace' | 'taskQueue'>,
): TemporalReadiness {
  const { namespace, taskQueue } = temporal;
  /** Set up once, and again after a problem; otherwise only looked at. */
  let isPrepared = false;

  async function problemOfNamespace(): Promise<string | null> {
    const look = isPrepared ? namespaceProblem : prepareNamespace;
    const problem = await look(connection, namespace);
    isPrepared = problem === null;
    return problem;
  }

  async function problemOfWorkers(): Promise<string | null> {
    const { current, polling } = await readVersionRouting(connection, temporal);
    if (polling.some(({ version }) => isSameVersion(version, current))) return null;
    if (polling.length === 0)
      return `no worker polls task queue "${taskQueue}"; start one (interlude worker)`;
    const builds = [...new Set(polling.map(({ version }) => version?.buildId ?? 'without a version'))];
    const others = `the workers that poll task queue "${taskQueue}" are of another (${builds.join(', ')})`;
    const remedy = 'with the checkout or image of those workers, run: interlude make-current';
    return current === null
      ? `no version of the workers is current, so no turn starts; ${remedy}`
      : `new turns go to version ${current.buildId}, and ${others}; ${remedy}`;
  }

  return {
    namespace: problemOfNamespace,
    workers: () => problemOfWorkers().catch(() => null),
  };
}
