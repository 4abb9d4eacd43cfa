/**
 * The workers of turns and deliveries, one for each version of the workflow code: the version that this process brings, the
 * current one, and every other that still has open workflows. Under Temporal's Worker Controller, which runs a process for
 * each version, there is only the own one.
 */
import { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { routedByTemporal } from '../../storage/ports/versions.ts';
import { joinWithSdk } from '../../temporal/join-sdk.ts';
import type { Dependencies } from '../dependencies.ts';
import { startCodeWorkers } from './code-workers.ts';
import type { CodeWorkers } from './code-workers.ts';
import type { TurnCode } from './turn-code.ts';
import { createTurnWorker } from './turn-worker.ts';
import type { TurnWorkerParts } from './turn-worker.ts';
import { createWorkerBudget } from './worker-budget.ts';

/** At least; where the namespace keeps histories longer, so long: a closed workflow can be reset, or queried. */
const keptMs = 7 * 24 * 60 * 60_000;

export async function startTurnWorkers(
  parts: TurnWorkerParts,
  connection: NativeConnection,
  own: TurnCode,
): Promise<CodeWorkers> {
  const { config, logger } = parts;
  const { namespace, deployment } = config.temporal;
  const client = new Client({ connection, namespace });
  const budget = createWorkerBudget(config);
  return startCodeWorkers<string>(parts, client, {
    kind: 'turns',
    own: [{ id: own.buildId, kind: 'turns', needs: own.needs, content: own.code }],
    async create({ id, content }) {
      const workflowBundle = await joinWithSdk({ code: content });
      const cache = budget.takeCache(id === own.buildId);
      try {
        const worker = await createTurnWorker(parts, connection, {
          workflowBundle,
          tuner: budget.tuner(),
          versioned: {
            version: { deploymentName: deployment.name, buildId: id },
            maxCachedWorkflows: cache.size,
          },
        });
        return { worker, onStopped: cache.giveBack };
      } catch (error) {
        // It is tried again by the next look.
        cache.giveBack();
        throw error;
      }
    },
    openWorkflows: (buildId) =>
      `TemporalWorkerDeploymentVersion = '${deployment.name}:${buildId}' AND ExecutionStatus = 'Running'`,
    keptMs: Math.max(keptMs, await retentionMs(client)),
    onOwnFailure(_code, error) {
      if (parts.onFailure?.()) return;
      // The process is started again: what made the worker fail may have left it in any state.
      logger.fatal({ err: error }, 'the worker stopped');
      process.exit(1);
    },
    alsoNeeded: createNeededVersions(parts),
  });
}

/** The current version, and those of turns that have not ended. Reports turns that have none. */
function createNeededVersions({ config, storage, logger }: Dependencies): () => Promise<ReadonlySet<string>> {
  const { versions } = storage;
  let unversioned = 0;
  return async () => {
    const [current, open] = await Promise.all([
      versions.current(config.temporal.deployment.name),
      versions.openTurns(),
    ]);
    const before = unversioned;
    unversioned = open.find(({ buildId }) => buildId === null)?.turns ?? 0;
    if (unversioned > before)
      logger.warn(
        `${unversioned} open turns without a version: an earlier release started them, and no worker of this release runs them; their users can cancel them`,
      );
    const ids = [current, ...open.map(({ buildId }) => buildId)];
    return new Set(ids.flatMap((id) => (id === null || id === routedByTemporal ? [] : [id])));
  };
}

/** Zero where Temporal does not say. */
async function retentionMs({ workflowService, options }: Client): Promise<number> {
  const { config } = await workflowService.describeNamespace({ namespace: options.namespace });
  return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) * 1000;
}
