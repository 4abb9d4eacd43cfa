/** The workers of tools in TypeScript, one for each bundle: they run the workflows of its tools and the activities of its author. */
import { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import type { InjectedSinks, NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import {
  createDurableToolActivities,
  createToolQuestionActivities,
} from '../../../activities/durable-tools/durable-tools.ts';
import { createEffect } from '../../../activities/durable-tools/effects.ts';
import type { AuthorActivity } from '../../../activities/durable-tools/effects.ts';
import { createExecuteTool } from '../../../activities/durable-tools/execute-tool.ts';
import { createToolProgressWriters } from '../../../activities/progress.ts';
import type { ToolProgressWriters } from '../../../activities/progress.ts';
import { endIfStuck } from '../../../activities/durable-tools/durable-calls.ts';
import { heartbeatMs } from '../../../activities/running-activity.ts';
import { aboutTurn } from '../../telemetry/events.ts';
import { joinWithSdk } from '../../temporal/join-sdk.ts';
import { sealingCodec, unreadableAsNull } from '../../temporal/sealed-payloads.ts';
import { loadForNode } from '@interlude-ai/tools/bundle/bundle-code.ts';
import type { AuthorCode, ToolBundle } from '../../tool-bundles/tool-bundle.ts';
import type { PlainTool } from '../../../turn/tool-code.ts';
import { contract } from '../../../workflows/contract.ts';
import type { ToolSinks } from '../../../workflows/durable-tool/sinks.ts';
import { activityPrefix, openToolCalls, taskTimeouts, toolQueueName } from '../../../workflows/messages.ts';
import type { Dependencies } from '../dependencies.ts';
import { startCodeWorkers } from './code-workers.ts';
import type { Code, CodeWorkers } from './code-workers.ts';
import { withoutHungThreads } from './hung-threads.ts';
import { activityInterceptors, longestStopMs } from './running-workers.ts';
import { turnOfWorkflow } from '../../../turn/turn.ts';

/** The SDK interrupts a task that runs this long without waiting. */
const longestTaskMs = 5_000;

/**
 * A thread that is silent for this many tasks is hung: one step of a call can be several tasks, each interrupted by
 * itself.
 */
const silentTasks = 4;

/** How long code is kept that neither runs nor has open calls. */
const keptMs = 7 * 24 * 60 * 60_000;

/** Runs `offered`, and all other bundles with open calls, until it is stopped. */
export function startToolWorkers(
  parts: Dependencies,
  connection: NativeConnection,
  offered: ToolBundle[],
): Promise<CodeWorkers<ToolBundle>> {
  const { namespace, taskQueue } = parts.config.temporal;
  const client = new Client({ connection, namespace });
  const openCalls = (hash: string) => openToolCalls(taskQueue, hash);
  const stuck = new StuckCalls(client, parts.logger);
  return startCodeWorkers<ToolBundle>(parts, client, {
    kind: 'tools',
    own: offered.map(toCode),
    async create({ id, content }) {
      const worker = await createToolWorker(parts, connection, content, (workflowId) =>
        stuck.check(workflowId),
      );
      stuck.checkAll(openCalls(id));
      return { worker };
    },
    openWorkflows: openCalls,
    // Calls that ask nothing are no workflows, and may wait for an approval.
    alsoNeeded: async () => new Set((await parts.storage.toolCalls.codeInUse()).keys()),
    keptMs,
    onStop: () => stuck.idle(),
  });
}

export function toCode(bundle: ToolBundle): Code<ToolBundle> {
  return { id: bundle.hash, kind: 'tools', needs: contract.needs, content: bundle };
}

/** `onCutOff`: a task of this call's workflow was interrupted because it took too long. */
async function createToolWorker(
  parts: Dependencies,
  connection: NativeConnection,
  bundle: ToolBundle,
  onCutOff: (workflowId: string) => void,
): Promise<Worker> {
  const { config, logger, keys } = parts;
  const { namespace, taskQueue } = config.temporal;
  const progress = createToolProgressWriters(parts.storage);
  // One after the other: if one fails, nothing of the other goes on.
  const workflowBundle = bundle.workflows === '' ? null : await joinWithSdk({ code: bundle.workflows });
  const loaded = await loadAuthorCode(bundle);
  const author = parts.aroundTools?.(loaded) ?? loaded;
  return withoutHungThreads({ logger, silentMs: silentTasks * longestTaskMs }, () =>
    Worker.create({
      connection,
      namespace,
      taskQueue: toolQueueName(taskQueue, bundle.hash),
      ...(workflowBundle && { workflowBundle }),
      // A context for each call: in a shared one, a call's changes to built-in prototypes would affect the next call,
      // possibly another user's (docs/decisions/0079-a-context-for-each-call.md).
      reuseV8Context: false,
      activities: {
        ...createToolQuestionActivities(parts),
        ...createDurableToolActivities({ ...parts, progress }),
        ...createExecuteTool(parts, author.tools),
        ...Object.fromEntries(
          [...author.activities].map(([name, activity]) => [
            activityPrefix + name,
            createEffect(parts, name, activity),
          ]),
        ),
      },
      dataConverter: { payloadCodecs: [unreadableAsNull(sealingCodec(keys))] },
      sinks: sinksOf(parts, progress, onCutOff),
      interceptors: { activity: activityInterceptors(parts) },
      stickyQueueScheduleToStartTimeout: taskTimeouts.stickyQueue,
      maxHeartbeatThrottleInterval: heartbeatMs,
      maxConcurrentActivityTaskExecutions: config.worker.calls,
      shutdownGraceTime: config.shutdownGraceMs,
      shutdownForceTime: longestStopMs(config),
    }),
  );
}

function sinksOf(
  { logger }: Dependencies,
  progress: ToolProgressWriters,
  onCutOff: (workflowId: string) => void,
): InjectedSinks<ToolSinks> {
  return {
    durableTool: {
      log: {
        fn(_info, { turn, toolCallId, toolName }, level, message, details) {
          logger[level]({ ...aboutTurn(turn), toolCallId, toolName, details }, message);
        },
      },
      progress: {
        fn(_info, call, progressed) {
          progress.note(call, progressed);
        },
      },
      taskBegan: {
        fn({ workflowId }, atMs) {
          // A bit early, and clocks may jump: a false alarm only costs a look at the call.
          if (Date.now() - atMs >= 0.9 * longestTaskMs) onCutOff(workflowId);
        },
      },
    },
  };
}

const longestLoadMs = 30_000;

/** The part of a bundle that runs in Node: its activities, and tools that ask nothing. */
export async function loadAuthorCode(
  { hash, node }: Pick<ToolBundle, 'hash' | 'node'>,
  { timeoutMs = longestLoadMs }: { timeoutMs?: number } = {},
): Promise<AuthorCode> {
  if (node === '') return { activities: new Map(), tools: new Map() };
  const loaded = await loadForNode(node, { timeoutMs, name: hash }).catch((error: unknown) => {
    throw new Error(`The code of the tools (bundle ${hash}) cannot be loaded: ${(error as Error).message}.`, {
      cause: error,
    });
  });
  const { activities = {}, tools = [] } = loaded as {
    activities?: Record<string, unknown>;
    tools?: PlainTool[];
  };
  return {
    activities: new Map(
      Object.entries(activities).flatMap(([name, value]) =>
        typeof value === 'function' ? [[name, value as AuthorActivity]] : [],
      ),
    ),
    tools: new Map(tools.map((tool) => [tool.name, tool])),
  };
}

/**
 * Ends calls of tools whose code never yields, even if the turn no longer waits for the call: each further attempt would block
 * other calls of the same worker.
 */
class StuckCalls {
  readonly #client: Client;
  readonly #logger: Logger;
  readonly #checking = new Set<Promise<void>>();

  constructor(client: Client, logger: Logger) {
    this.#client = client;
    this.#logger = logger;
  }

  /** To be called when a workflow task of the call was interrupted. */
  check(workflowId: string): void {
    this.#start(() => this.#check(workflowId));
  }

  /**
   * Checks all workflows that a query finds: a call that ends its worker's thread, or the process, is not reported to
   * `check`.
   */
  checkAll(query: string): void {
    this.#start(async () => {
      for await (const { workflowId } of this.#client.workflow.list({ query })) await this.#check(workflowId);
    });
  }

  /** Waits for running checks. */
  async idle(): Promise<void> {
    await Promise.all(this.#checking);
  }

  #start(work: () => Promise<void>): void {
    const working = work()
      .catch((err: unknown) => this.#logger.warn({ err }, 'could not look whether calls of tools are stuck'))
      .finally(() => this.#checking.delete(working));
    this.#checking.add(working);
  }

  async #check(workflowId: string): Promise<void> {
    if (!(await endIfStuck(this.#client, workflowId))) return;
    const { memo } = await this.#client.workflow.getHandle(workflowId).describe();
    this.#logger.error(
      {
        ...turnOfWorkflow(workflowId),
        toolName: memo?.['toolName'],
        toolCallId: workflowId.split('/tool/').at(-1),
      },
      'a tool was ended, because its code ran for seconds without waiting for anything: look for an endless loop',
    );
  }
}
