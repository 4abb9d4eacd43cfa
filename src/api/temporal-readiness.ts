/** What Temporal lacks for turns to go on, in words for operators. */
import { isGrpcServiceError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import type { TemporalConfig } from '../config.ts';
import { isSame, takersOf } from '../deployment.ts';
import { missingSearchAttributes } from '../search-attributes.ts';

/** gRPC's `NOT_FOUND`. */
const notFound = 5;

export interface TemporalReadiness {
  /** Null when the namespace can be used; rejects when Temporal does not answer. */
  namespace(): Promise<string | null>;
  /** Null when new turns find a worker, or nothing is known about workers. */
  workers(): Promise<string | null>;
}

export function createTemporalReadiness(
  client: Pick<Client, 'connection'>,
  temporal: Pick<TemporalConfig, 'namespace' | 'taskQueue'>,
): TemporalReadiness {
  const { connection } = client;
  const { namespace, taskQueue } = temporal;
  let hasAttributes = false;

  async function lackOfNamespace(): Promise<string | null> {
    try {
      await connection.workflowService.describeNamespace({ namespace });
    } catch (error) {
      if (!isGrpcServiceError(error) || Number(error.code) !== notFound) throw error;
      return `Temporal has no namespace "${namespace}"; create it (temporal operator namespace create --namespace ${namespace}) or correct TEMPORAL_NAMESPACE`;
    }
    if (hasAttributes) return null;
    const missing = await missingSearchAttributes(connection, namespace).catch(() => []);
    hasAttributes = missing.length === 0;
    return hasAttributes
      ? null
      : `Temporal does not know the search attributes ${missing.join(', ')}; a worker registers them when it starts`;
  }

  async function lackOfWorkers(): Promise<string | null> {
    const { current, polling } = await takersOf(connection, temporal);
    if (polling.some(({ version }) => isSame(version, current))) return null;
    if (polling.length === 0) return `no worker polls task queue "${taskQueue}"; start one (npm run worker)`;
    const builds = [...new Set(polling.map(({ version }) => version?.buildId ?? 'without a version'))];
    const others = `the workers that poll task queue "${taskQueue}" are of another (${builds.join(', ')})`;
    const remedy = 'with the checkout or image of those workers, run: npm run make-current';
    return current === null
      ? `no version of the workers is current, so no turn starts; ${remedy}`
      : `new turns go to version ${current.buildId}, and ${others}; ${remedy}`;
  }

  return { namespace: lackOfNamespace, workers: () => lackOfWorkers().catch(() => null) };
}
