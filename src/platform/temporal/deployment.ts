/**
 * Versions of the workflow code in Temporal. Every worker polls as one version of a deployment, and a workflow stays with
 * the version that started it, because other code cannot replay its history.
 */
import type { ConnectionLike, WorkflowStartOptions } from '@temporalio/client';
import type { TemporalConfig } from '../config/config.ts';
import { routedByTemporal } from '../../storage/tables/versions.ts';
import { grpcStatus, grpcStatusOf } from './grpc-status.ts';

export interface Version {
  deploymentName: string;
  buildId: string;
}

type Temporal = Pick<ConnectionLike, 'workflowService'>;
type Place = Pick<TemporalConfig, 'namespace' | 'taskQueue'>;

/** A poll lasts a minute, so a worker without a poll for longer than this is gone. */
const pollingMs = 90_000;
/** `TASK_QUEUE_TYPE_WORKFLOW` in Temporal's API. */
const workflowTasks = 1;

/** Options that start a workflow with this version; empty if Temporal's routing decides. */
export function pinnedTo(
  { deployment }: Pick<TemporalConfig, 'deployment'>,
  buildId: string,
): Pick<WorkflowStartOptions, 'versioningOverride'> {
  if (buildId === routedByTemporal) return {};
  return { versioningOverride: { pinnedTo: { deploymentName: deployment.name, buildId } } };
}

/** Whether a worker of this version has ever polled. */
export async function isKnown(
  { workflowService }: Temporal,
  namespace: string,
  version: Version,
): Promise<boolean> {
  try {
    await workflowService.describeWorkerDeploymentVersion({ namespace, deploymentVersion: version });
    return true;
  } catch (error) {
    if (grpcStatusOf(error) === grpcStatus.notFound) return false;
    throw error;
  }
}

/**
 * The build ids of workers that have polled within 90 s of `now` (epoch milliseconds); null for a worker without a version.
 * Temporal keeps the list in memory, so it is empty after a restart: use it for reports, and never to end a turn.
 */
export async function polledBuildIds(
  { workflowService }: Temporal,
  place: Place,
  now: number,
): Promise<Set<string | null>> {
  const { pollers } = await workflowService.describeTaskQueue({
    namespace: place.namespace,
    taskQueue: { name: place.taskQueue },
    taskQueueType: workflowTasks,
  });
  const since = now - pollingMs;
  const polling = (pollers ?? []).filter(
    ({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 > since,
  );
  return new Set(polling.map(({ deploymentOptions }) => deploymentOptions?.buildId || null));
}
