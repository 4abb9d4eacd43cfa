/**
 * Turns of a version that no worker runs any more: nothing would ever make them go on. A turn whose history the current
 * code can replay is moved to it; any other is terminated, and its user can ask again. What brings turns to somebody outside
 * begins again instead: an answer in Slack is compared with its thread, and notifications have the ids that they had.
 */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import type { WorkflowBundleOption } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import type { TemporalConfig } from '../config/config.ts';
import { pushWorkflow, slackDeliveryWorkflow } from '../workflows/messages.ts';
import { isSameVersion, readVersionRouting } from '../temporal/deployment.ts';
import { openingCodec } from '../temporal/sealed-payloads.ts';
import { unreadableAsNull } from '../temporal/unreadable-payloads.ts';
import type { VersionRouting, Version } from '../temporal/deployment.ts';

interface Parts {
  client: Client;
  temporal: Pick<TemporalConfig, 'namespace' | 'taskQueue'>;
  /** The version that this process runs, and its code. */
  version: Version;
  workflowBundle: WorkflowBundleOption;
  keys: KeyRing;
  logger: Logger;
}

const takenWords = {
  moved: 'goes on with this one',
  'begun-again': 'begins again with this one',
  ended: 'was ended: this version cannot read its history',
};

/** Enumerations of Temporal's API: that an ended workflow's id may be used again, and that one at work makes way. */
const [allowDuplicate, terminateExisting] = [1, 3];

/** `PINNED_OVERRIDE_BEHAVIOR_PINNED` in Temporal's API. */
const pinned = 1;

export const reasonOfEnd = 'The version of Interlude that this turn began with does not run any more.';

/** Looks once. Only a worker of the current version takes turns over: any other may be about to be replaced. */
export async function takeStrandedTurns(parts: Parts, given?: VersionRouting): Promise<void> {
  const { client, temporal, version, logger } = parts;
  const takers = given ?? (await readVersionRouting(client.connection, temporal));
  if (!isSameVersion(takers.current, version)) return;
  const alive = [version, ...takers.polling.flatMap((poller) => poller.version ?? [])];
  const names = [...new Set(alive.map(({ deploymentName, buildId }) => `'${deploymentName}:${buildId}'`))];
  const query = `TaskQueue = '${temporal.taskQueue}' AND ExecutionStatus = 'Running' AND TemporalWorkerDeploymentVersion NOT IN (${names.join(', ')})`;
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    const taken = await take(parts, workflowId, runId);
    logger.warn({ workflowId }, `a turn of a version that does not run any more ${takenWords[taken]}`);
  }
}

/** Repeats `takeStrandedTurns` until the stack is disposed. */
export function keepTakingStrandedTurns(
  parts: Parts,
  { everyMs, stack }: { everyMs: number; stack: AsyncDisposableStack },
): void {
  let looking = Promise.resolve();
  const timer = setInterval(() => {
    looking = looking
      .then(() => takeStrandedTurns(parts))
      .catch((err: unknown) =>
        parts.logger.warn({ err }, 'could not look for turns of versions that are gone'),
      );
  }, everyMs);
  stack.defer(async () => {
    clearInterval(timer);
    await looking;
  });
}

async function take(parts: Parts, workflowId: string, runId: string): Promise<keyof typeof takenWords> {
  const { client, temporal, version, workflowBundle } = parts;
  const handle = client.workflow.getHandle(workflowId, runId);
  const history = await handle.fetchHistory();
  try {
    const dataConverter = { payloadCodecs: [unreadableAsNull(openingCodec(parts.keys))] };
    await Worker.runReplayHistory({ workflowBundle, dataConverter }, history, workflowId);
  } catch {
    const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
    const type = started?.workflowType?.name;
    if (type !== slackDeliveryWorkflow && type !== pushWorkflow) {
      await handle.terminate(reasonOfEnd);
      return 'ended';
    }
    await client.workflowService.startWorkflowExecution({
      namespace: temporal.namespace,
      workflowId,
      workflowType: { name: type },
      taskQueue: { name: temporal.taskQueue },
      // Sealed, as it is.
      input: started?.input ?? null,
      workflowExecutionTimeout: started?.workflowExecutionTimeout ?? null,
      requestId: randomUUID(),
      workflowIdReusePolicy: allowDuplicate,
      workflowIdConflictPolicy: terminateExisting,
    });
    return 'begun-again';
  }
  await client.workflowService.updateWorkflowExecutionOptions({
    namespace: temporal.namespace,
    workflowExecution: { workflowId, runId },
    updateMask: { paths: ['versioning_override'] },
    workflowExecutionOptions: { versioningOverride: { pinned: { behavior: pinned, version } } },
  });
  return 'moved';
}
