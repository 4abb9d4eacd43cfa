/** Starts a worker process's work: the workers of turns and of tools, polling of servers, and the version of new turns. */
import type { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { createHeldCallLimit } from '../activities/call-tool/held-call-limit.ts';
import { startPolling } from '../polling/polling.ts';
import { checkRunAs } from '../remote/mcp/stdio/run-as.ts';
import { pagesWithoutSecret } from '../tool-bundles/open-agent-bundles.ts';
import type { OpenedTools } from '../tool-bundles/open-agent-bundles.ts';
import type { Dependencies } from './dependencies.ts';
import { becomeCurrent, checkContracts, holdLease } from './versions.ts';
import { sendOutbox } from './start-outbox.ts';
import { exposedTools } from './workers/exposed-tools.ts';
import { keepLooking } from './workers/keep-looking.ts';
import { offerTools } from './workers/offer-tools.ts';
import { startToolWorkers } from './workers/tool-workers.ts';
import type { TurnCode } from './workers/turn-code.ts';
import { startTurnWorkers } from './workers/turn-workers.ts';

/** A call that does not begin within a minute is given up. */
const lookForCalls = { busyMs: 3_000, quietMs: 30_000, settledAfterMs: 60_000 };
/** Another version may become current at any time, and new turns wait for a worker of it. */
const lookForTurns = { busyMs: 3_000, quietMs: 3_000, settledAfterMs: 60_000 };
/** A worker that failed to start has nothing to stop, and its failure was reported. */
const ignore = () => undefined;

interface Options {
  connection: NativeConnection;
  /** Delivers the outbox. */
  client: Client;
  code: TurnCode;
  /** The tools in TypeScript of agents, by their names. */
  tools: ReadonlyMap<string, OpenedTools>;
  /** There is no other worker on this Temporal. */
  isAlone: boolean;
}

export async function startWorker(
  parts: Dependencies,
  { connection, client, code, tools, isAlone }: Options,
  stack: AsyncDisposableStack,
): Promise<{ startsHere(buildId: string): boolean }> {
  const { config, logger } = parts;
  checkRunAs(config.servers.values());
  await checkContracts(parts);
  await holdLease(parts, 'worker', stack);
  stack.defer(() => parts.remote.close());
  sendOutbox(parts, client, stack);
  for (const problem of pagesWithoutSecret(config, tools)) logger.warn(problem);
  const offered = new Set([...tools.values()].map((opened) => opened.bundle));
  const heldCallLimit = createHeldCallLimit(config.worker.heldCalls);
  const own = { ...parts, offeredTools: offerTools(tools), heldCallLimit };
  // Each worker loads its threads for a while. If one fails to start, the other ends with the stack.
  const starting = startToolWorkers(parts, connection, [...offered]);
  stack.defer(() => starting.then((workers) => workers.stop(), ignore));
  const creating = startTurnWorkers(own, connection, code);
  stack.defer(() => creating.then((workers) => workers.stop(), ignore));
  const [toolWorkers, turnWorkers] = await Promise.all([starting, creating]);
  await keepLooking(toolWorkers, { intervals: lookForCalls, logger, stack });
  if (config.temporal.deployment.buildId === undefined)
    await keepLooking(turnWorkers, { intervals: lookForTurns, logger, stack });
  await parts.storage.exposedTools.replace([...config.agents.keys()], exposedTools(tools));
  stack.defer(async () => {
    heldCallLimit.end();
    const underWay = turnWorkers.inFlight();
    if (underWay > 0) {
      logger.info(
        `waiting up to ${config.shutdownGraceMs / 1000} s for calls of models and tools that are under way (${underWay}); stop again to leave them`,
      );
    }
    // All workers stop at once, each with the whole grace period.
    await Promise.all([toolWorkers.stop(), turnWorkers.stop()]);
  });
  const polling = startPolling(parts);
  stack.defer(() => polling.stop());
  const stopping = new AbortController();
  const advancing = becomeCurrent(parts, { connection, own: code, isAlone }, stopping.signal);
  stack.defer(async () => {
    stopping.abort();
    await advancing;
  });
  // New turns of a process that is alone start at once.
  if (isAlone) await advancing;
  return { startsHere: turnWorkers.runsAlone };
}
