/** A worker at work: it polls as a version of the code, and sees to it that turns find one that takes them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { createHeldPlaces } from '../activities/call-tool/held-call-limit.ts';
import { isSame, makeCurrent, takersOf, versionOf } from '../temporal/deployment.ts';
import type { Version } from '../temporal/deployment.ts';
import { startPolling } from '../polling/polling.ts';
import { checkRunAs } from '../remote/mcp/stdio/run-as.ts';
import type { Parts } from './parts.ts';
import { keepTakingStrandedTurns, takeStrandedTurns } from './stranded-turns.ts';
import { createTurnWorker, runWorker } from './turn-worker.ts';
import type { WorkflowBundle } from './workflow-bundle.ts';

const lookForStrandedMs = 30_000;
const patienceMs = 30_000;

interface Options {
  connection: NativeConnection;
  bundle: WorkflowBundle;
  /** Nobody else works on this Temporal: every turn there is belongs to this worker. */
  isAlone: boolean;
}

export async function takeTurns(
  parts: Parts,
  { connection, bundle, isAlone }: Options,
  stack: AsyncDisposableStack,
): Promise<void> {
  const { config, logger } = parts;
  checkRunAs(config.servers.values());
  const { temporal } = config;
  const version = versionOf(temporal, bundle.buildId);
  const client = new Client({ connection, namespace: temporal.namespace });
  const stranded = { client, temporal, version, workflowBundle: { code: bundle.code }, logger };
  stack.defer(() => parts.remote.close());
  const own = { ...parts, heldPlaces: createHeldPlaces(config.worker.heldCalls) };
  runWorker(await createTurnWorker(own, connection, bundle, version), own, stack);
  const looks = startPolling(parts, connection);
  stack.defer(() => looks.stop());

  const { current } = await takersOf(connection, temporal);
  if (current === null || (isAlone && !isSame(current, version))) {
    await becomeCurrent(connection, temporal.namespace, version);
  } else if (!isSame(current, version)) {
    logger.warn(
      `new turns go to version ${current.buildId}, not to this one (${version.buildId}), until: npm run make-current`,
    );
  }
  if (isAlone) await takeStrandedTurns(stranded, { current: version, polling: [] });
  else keepTakingStrandedTurns(stranded, { everyMs: lookForStrandedMs, stack });
}

/** Temporal hears of a version with the first poll of its worker. */
async function becomeCurrent(
  connection: NativeConnection,
  namespace: string,
  version: Version,
): Promise<void> {
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await sleep(50))
    if (await makeCurrent(connection, namespace, version)) return;
  throw new Error(
    `Temporal does not accept version ${version.buildId} of deployment ${version.deploymentName}`,
  );
}
