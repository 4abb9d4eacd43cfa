/** Starts the work of a worker process: workers of turns and of tools, polling of servers, the version of new turns. */
import type { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { createHeldCallLimit } from '../../activities/call-tool/held-call-limit.ts';
import type { OfferedTools } from '../../activities/call-model/agent-tools.ts';
import { needsApproval, policyFor } from '@interlude-ai/core/elicitation/approval.ts';
import { startPolling } from '../loops/polling.ts';
import { checkRunAs } from '@interlude-ai/core/mcp/stdio/process.ts';
import type { ExposedTool } from '../../storage/tables/tool-catalogue.ts';
import { pagesWithoutSecret } from '../tool-bundles/open-agent-bundles.ts';
import type { OpenedTools } from '../tool-bundles/open-agent-bundles.ts';
import type { Dependencies } from './dependencies.ts';
import { sendOutbox } from './run-process.ts';
import { becomeCurrent, checkContracts, holdLease, notSeenYet } from './versions.ts';
import type { VersionLack } from './versions.ts';
import { keepLooking } from './workers/code-workers.ts';
import { startToolWorkers, toCode } from './workers/tool-workers.ts';
import type { TurnCode } from './workers/turn-code.ts';
import { startTurnWorkers } from './workers/turn-workers.ts';

/** A call that does not begin within a minute is given up. */
const lookForCalls = { busyMs: 3_000, quietMs: 30_000, settledAfterMs: 60_000 };
/** Another version may become current at any time; its new turns wait for a worker. */
const lookForTurns = { busyMs: 3_000, quietMs: 3_000, settledAfterMs: 60_000 };
/** A worker that failed to start has nothing to stop, and its failure was reported. */
const ignore = () => undefined;

interface Options {
  connection: NativeConnection;
  /** Delivers the outbox. */
  client: Client;
  code: TurnCode;
  /** The TypeScript tools of agents, by agent. */
  tools: ReadonlyMap<string, OpenedTools>;
  /** `start`: a process that is the API, too. */
  kind?: 'worker' | 'start';
  /** There is no other worker on this Temporal. */
  isAlone: boolean;
  /** Aborts when the process stops, for a start that waits. */
  signal?: AbortSignal;
}

export interface RunningWorker {
  startsHere(buildId: string): boolean;
  /** Why its version is not current yet; null once it is, or an operator has chosen another. */
  versionLack(): VersionLack | null;
  /** Takes up changed tools, of these agents in place of the configured ones; rejects if they do not run, and keeps those before. */
  offer(tools: ReadonlyMap<string, OpenedTools>, agents: readonly string[]): Promise<void>;
}

export async function startWorker(
  parts: Dependencies,
  { connection, client, code, tools, kind = 'worker', isAlone, signal }: Options,
  stack: AsyncDisposableStack,
): Promise<RunningWorker> {
  const { config, logger } = parts;
  checkRunAs(config.servers.values());
  await checkContracts(parts);
  const isControlled = config.temporal.deployment.buildId !== undefined;
  await holdLease(parts, { kind, buildId: isControlled ? null : code.buildId }, stack);
  stack.defer(() => parts.remote.close());
  sendOutbox(parts, client, stack);
  for (const problem of pagesWithoutSecret(config, tools)) logger.warn(problem);
  const bundlesOf = (opened: typeof tools) => [
    ...new Set(Array.from(opened.values(), ({ bundle }) => bundle)),
  ];
  const heldCallLimit = createHeldCallLimit(config.worker.heldCalls);
  let offered = offerTools(tools);
  let ownBundles = bundlesOf(tools);
  const offeredTools: OfferedTools = (agent) => offered(agent);
  const own = { ...parts, offeredTools, heldCallLimit };
  // Workers take a while to load their threads. If one fails to start, the other ends with the stack.
  const starting = startToolWorkers(parts, connection, ownBundles);
  stack.defer(() => starting.then((workers) => workers.stop(), ignore));
  const creating = startTurnWorkers(own, connection, code);
  stack.defer(() => creating.then((workers) => workers.stop(), ignore));
  const [toolWorkers, turnWorkers] = await Promise.all([starting, creating]);
  await keepLooking(toolWorkers, { intervals: lookForCalls, logger, stack });
  if (!isControlled) await keepLooking(turnWorkers, { intervals: lookForTurns, logger, stack });
  await parts.storage.exposedTools.replace([...config.agents.keys()], exposedTools(tools));
  stack.defer(async () => {
    heldCallLimit.end();
    const underWay = turnWorkers.inFlight();
    if (underWay > 0) {
      logger.info(
        `waiting up to ${config.shutdownGraceMs / 1000} s for calls of models and tools that are under way (${underWay}); stop again to leave them`,
      );
    }
    // All workers stop at the same time, each with the whole grace period.
    await Promise.all([toolWorkers.stop(), turnWorkers.stop()]);
  });
  const polling = startPolling(parts);
  stack.defer(() => polling.stop());
  const closing = new AbortController();
  const stopping = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
  let lack: VersionLack | null = notSeenYet;
  const decided = Promise.withResolvers<void>();
  const onLack = (now: VersionLack | null) => {
    lack = now;
    if (now === null || now.isOfOthers) decided.resolve();
  };
  const advancing = becomeCurrent(parts, { connection, own: code, isAlone, onLack }, stopping);
  stack.defer(async () => {
    closing.abort();
    await advancing;
  });
  // New turns of a single process start at once. With other workers, `start` listens once its version is current, or waits for
  // older processes.
  if (isAlone) await advancing;
  else if (kind === 'start') await Promise.race([decided.promise, advancing]);
  signal?.throwIfAborted();
  return {
    startsHere: turnWorkers.runsAlone,
    versionLack: () => lack,
    async offer(opened, agents) {
      const exposed = exposedTools(opened);
      const bundles = bundlesOf(opened);
      // Both run until the change is complete: if the rows cannot be written, the tools before are still offered.
      await toolWorkers.offer([...new Set([...ownBundles, ...bundles])].map(toCode));
      const known = new Set([...config.agents.keys(), ...agents]);
      await parts.storage.exposedTools.replace([...known], exposed);
      offered = offerTools(opened);
      ownBundles = bundles;
      await toolWorkers
        .offer(bundles.map(toCode))
        .catch((err: unknown) => logger.warn({ err }, 'the tools before run on until the next change'));
    },
  };
}

/** The TypeScript tools of each agent, and the bundle that runs their calls. */
export function offerTools(bundles: ReadonlyMap<string, OpenedTools>): OfferedTools {
  const offered = new Map(
    [...bundles].map(([agent, { bundle, allow, approval }]) => [
      agent,
      bundle.manifest
        .filter(({ name }) => allow?.includes(name) ?? true)
        .map(({ name, description, inputSchema, annotations, executeMs }) => ({
          modelName: name,
          bundle: bundle.hash,
          description,
          inputSchema,
          ...(needsApproval(policyFor(approval, name), annotations) && { approval: true as const }),
          ...(executeMs !== undefined && { executeMs }),
        })),
    ]),
  );
  return (agent) => offered.get(agent) ?? [];
}

/**
 * The TypeScript tools that clients may call directly, each for the first agent that has it. Throws if two folders expose the
 * same name, because clients could not tell them apart.
 */
export function exposedTools(bundles: ReadonlyMap<string, OpenedTools>): ExposedTool[] {
  const exposed = new Map<string, ExposedTool>();
  const from = new Map<string, OpenedTools['bundle']>();
  for (const [agent, { bundle, allow }] of bundles)
    for (const tool of bundle.manifest) {
      const { name, title, description, inputSchema, outputSchema, annotations, expose } = tool;
      if (expose !== true || !(allow?.includes(name) ?? true)) continue;
      const other = exposed.get(name);
      if (other && from.get(name) !== bundle)
        throw new Error(
          `The tools of ${other.agent} and of ${agent} both expose "${name}" to clients. Rename one, or leave it out of tools.allow of one agent.`,
        );
      if (other) continue;
      from.set(name, bundle);
      const { title: _, ...hints } = annotations ?? {};
      exposed.set(name, {
        name,
        agent,
        title,
        description,
        inputSchema,
        ...(outputSchema && { outputSchema }),
        ...(annotations && { annotations: hints }),
      });
    }
  return [...exposed.values()];
}
