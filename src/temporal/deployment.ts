/**
 * Which version of the workflow code runs turns. Every worker polls as one version of a deployment; new turns go to the version
 * that is current, and a turn stays with the version that began it: changed workflow code cannot replay the history of
 * another version, and the turn would hang.
 */
import type { ConnectionLike } from '@temporalio/client';
import type { TemporalConfig } from '../config/config.ts';
import { grpcStatus, grpcStatusOf } from './grpc-status.ts';

export interface Version {
  deploymentName: string;
  buildId: string;
}

export interface VersionRouting {
  /** Where new turns go; null: to workers without a version. */
  current: Version | null;
  /** Workers that began a poll within `pollingMs`. */
  polling: { version: Version | null }[];
}

type Temporal = Pick<ConnectionLike, 'workflowService'>;
type Place = Pick<TemporalConfig, 'namespace' | 'taskQueue'>;

/** A poll lasts a minute: a worker that has not begun one for longer is gone. */
const pollingMs = 90_000;
/** `TASK_QUEUE_TYPE_WORKFLOW` and `WORKER_VERSIONING_MODE_VERSIONED` in Temporal's API. */
const workflowTasks = 1;
const versioned = 2;
/** What is answered for a version that Temporal has not seen a worker of, or not on all task queues. */
const notYet: (number | undefined)[] = [grpcStatus.notFound, grpcStatus.failedPrecondition];

export function versionOf({ deployment }: Pick<TemporalConfig, 'deployment'>, buildId: string): Version {
  return { deploymentName: deployment.name, buildId: deployment.buildId ?? buildId };
}

export async function readVersionRouting(
  { workflowService }: Temporal,
  place: Place,
): Promise<VersionRouting> {
  const { pollers, versioningInfo } = await workflowService.describeTaskQueue({
    namespace: place.namespace,
    taskQueue: { name: place.taskQueue },
    taskQueueType: workflowTasks,
  });
  const since = Date.now() - pollingMs;
  const polling = (pollers ?? [])
    .filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 > since)
    .map(({ deploymentOptions }) => ({
      version: deploymentOptions?.workerVersioningMode === versioned ? toVersion(deploymentOptions) : null,
    }));
  return { current: toVersion(versioningInfo?.currentDeploymentVersion), polling };
}

export function isSameVersion(one: Version | null, other: Version | null): boolean {
  return one?.deploymentName === other?.deploymentName && one?.buildId === other?.buildId;
}

/** Lets new turns go to this version. Resolves to false while Temporal has not seen a worker of it. */
export async function makeCurrent(
  { workflowService }: Temporal,
  namespace: string,
  version: Version,
): Promise<boolean> {
  try {
    await workflowService.setWorkerDeploymentCurrentVersion({ namespace, ...version, identity: 'interlude' });
    return true;
  } catch (error) {
    if (notYet.includes(grpcStatusOf(error))) return false;
    throw error;
  }
}

function toVersion(
  given: { deploymentName?: string | null; buildId?: string | null } | null | undefined,
): Version | null {
  return given?.deploymentName && given.buildId
    ? { deploymentName: given.deploymentName, buildId: given.buildId }
    : null;
}
