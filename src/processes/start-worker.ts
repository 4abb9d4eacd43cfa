/**
 * Starts a worker: it polls the task queue as one version of the workflow code, makes that version current where nobody has
 * decided otherwise, and takes over turns of versions that no worker runs.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { createHeldCallLimit } from '../activities/call-tool/held-call-limit.ts';
import { isSameVersion, makeCurrent, readVersionRouting, versionOf } from '../temporal/deployment.ts';
import type { Version } from '../temporal/deployment.ts';
import { startPolling } from '../polling/polling.ts';
import { createQuestionSignals } from '../service/question-signals.ts';
import { checkRunAs } from '../remote/mcp/stdio/run-as.ts';
import { pagesWithoutSecret } from '../tool-bundles/open-agent-bundles.ts';
import { exposedTools } from './tool-workers/exposed-tools.ts';
import type { OpenedTools } from '../tool-bundles/open-agent-bundles.ts';
import type { Dependencies } from './dependencies.ts';
import { keepTakingStrandedTurns, takeStrandedTurns } from './stranded-turns.ts';
import { offerTools } from './tool-workers/offer-tools.ts';
import { keepLooking } from './tool-workers/keep-looking.ts';
import { startToolWorkers } from './tool-workers/tool-workers.ts';
import { createTurnWorker, discardWorker, runWorker } from './turn-worker.ts';
import type { WorkflowBundle } from './workflow-bundle.ts';

const lookForStrandedMs = 30_000;
/** A call that nobody begins within a minute is given up. */
const lookForCalls = { busyMs: 3_000, quietMs: 30_000, settledAfterMs: 60_000 };
const timeoutMs = 30_000;
/** Of what failed there is nothing to end, and its failure was told. */
const ignore = () => undefined;

interface Options {
  connection: NativeConnection;
  bundle: WorkflowBundle;
  /** The tools in TypeScript of agents, by their names. */
  tools: ReadonlyMap<string, OpenedTools>;
  /** There is no other worker on this Temporal: every turn there belongs to this one. */
  isAlone: boolean;
}

export async function startWorker(
  parts: Dependencies,
  { connection, bundle, tools, isAlone }: Options,
  stack: AsyncDisposableStack,
): Promise<void> {
  const { config, logger } = parts;
  checkRunAs(config.servers.values());
  const { temporal } = config;
  const version = versionOf(temporal, bundle.buildId);
  const client = new Client({ connection, namespace: temporal.namespace });
  const stranded = {
    client,
    temporal,
    version,
    workflowBundle: { code: bundle.code },
    keys: parts.keys,
    logger,
  };
  stack.defer(() => parts.remote.close());
  for (const problem of pagesWithoutSecret(config, tools)) logger.warn(problem);
  const offered = new Set([...tools.values()].map((opened) => opened.bundle));
  const offeredTools = offerTools(tools);
  const own = { ...parts, offeredTools, heldCallLimit: createHeldCallLimit(config.worker.heldCalls) };
  // Each worker loads its threads for a while. Whatever becomes of one, the other ends with the stack.
  const starting = startToolWorkers(parts, connection, [...offered]);
  stack.defer(() => starting.then((workers) => workers.stop(), ignore));
  const creating = createTurnWorker(own, connection, bundle, version);
  stack.defer(() => creating.then(discardWorker, ignore));
  const [toolWorkers, turnWorker] = await Promise.all([starting, creating]);
  await keepLooking(toolWorkers, { intervals: lookForCalls, logger, stack });
  await parts.storage.exposedTools.replace([...config.agents.keys()], exposedTools(tools));
  runWorker(turnWorker, own, stack);
  // The workers stop at once, each with the whole grace period.
  stack.defer(() => void toolWorkers.stop());
  const polling = startPolling(parts, createQuestionSignals(client));
  stack.defer(() => polling.stop());

  const { current } = await readVersionRouting(connection, temporal);
  if (current === null || (isAlone && !isSameVersion(current, version))) {
    await becomeCurrent(connection, temporal.namespace, version);
  } else if (!isSameVersion(current, version)) {
    logger.warn(
      `new turns go to version ${current.buildId}, not to this one (${version.buildId}), until: interlude make-current`,
    );
  }
  if (isAlone) await takeStrandedTurns(stranded, { current: version, polling: [] });
  else keepTakingStrandedTurns(stranded, { everyMs: lookForStrandedMs, stack });
}

/** Temporal does not know a version before the first poll of its worker. */
async function becomeCurrent(
  connection: NativeConnection,
  namespace: string,
  version: Version,
): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(50))
    if (await makeCurrent(connection, namespace, version)) return;
  throw new Error(
    `Temporal does not accept version ${version.buildId} of deployment ${version.deploymentName}`,
  );
}
