/**
 * The workers of tools in TypeScript, one for each bundle. A worker runs the tools of its bundle: their workflows, and the
 * activities of their author.
 */
import { Client } from '@temporalio/client';
import { aboutTurn } from '../../telemetry/events.ts';
import { Worker } from '@temporalio/worker';
import type { InjectedSinks, NativeConnection } from '@temporalio/worker';
import { createDurableToolActivities } from '../../activities/durable-tools/durable-tools.ts';
import { createEffect } from '../../activities/durable-tools/effects.ts';
import { createExecuteTool } from '../../activities/durable-tools/execute-tool.ts';
import { createToolProgressWriters } from '../../activities/durable-tools/progress-writers.ts';
import type { ToolProgressWriters } from '../../activities/durable-tools/progress-writers.ts';
import { heartbeatMs } from '../../activities/heartbeat.ts';
import { createToolQuestionActivities } from '../../activities/questions/tool-question.ts';
import { joinWithSdk } from '../../temporal/join-sdk.ts';
import { activityInterceptors } from '../own-installation.ts';
import { sealingCodec } from '../../temporal/sealed-payloads.ts';
import { unreadableAsNull } from '../../temporal/unreadable-payloads.ts';
import { activityPrefix, taskTimeouts, toolQueueName } from '../../workflows/messages.ts';
import type { ToolSinks } from '../../workflows/durable-tool/sinks.ts';
import type { Dependencies } from '../dependencies.ts';
import { withoutHungThreads } from './hung-threads.ts';
import { loadAuthorCode } from './author-code.ts';
import type { ToolBundle } from '../../tool-bundles/tool-bundle.ts';
import { contract } from '../../workflows/contract.ts';
import { startCodeWorkers } from './code-workers.ts';
import type { CodeWorkers } from './code-workers.ts';
import { longestStopMs } from './running-workers.ts';
import { createStuckCalls } from './stuck-calls.ts';

/** The SDK cuts a task off after this long without waiting for anything. */
const longestTaskMs = 5_000;

/** A thread that is silent for so many of them is hung: one step of a call can be more than one task, each cut off by itself. */
const silentTasks = 4;

/** How long code is kept that does not run and has no open calls. */
const keptMs = 7 * 24 * 60 * 60_000;

/** Runs `offered`, and all other bundles that still have open calls, until it is stopped. */
export function startToolWorkers(
  parts: Dependencies,
  connection: NativeConnection,
  offered: ToolBundle[],
): Promise<CodeWorkers> {
  const { namespace, taskQueue } = parts.config.temporal;
  const client = new Client({ connection, namespace });
  const openCalls = (hash: string) =>
    `TaskQueue = '${toolQueueName(taskQueue, hash)}' AND ExecutionStatus = 'Running'`;
  const stuck = createStuckCalls({ client, logger: parts.logger });
  return startCodeWorkers<ToolBundle>(parts, client, {
    kind: 'tools',
    own: offered.map((bundle) => ({
      id: bundle.hash,
      kind: 'tools',
      needs: contract.needs,
      content: bundle,
    })),
    async create({ id, content }) {
      const worker = await createToolWorker(parts, connection, content, stuck.check);
      stuck.checkAll(openCalls(id));
      return { worker };
    },
    openWorkflows: openCalls,
    // Calls that ask nothing are no workflows: one may wait for its approval.
    alsoNeeded: async () => new Set(await parts.storage.toolCalls.codeInUse()),
    keptMs,
    onStop: stuck.idle,
  });
}

/** `onCutOff`: a task of the call that is this workflow took so long, and was cut off. */
async function createToolWorker(
  parts: Dependencies,
  connection: NativeConnection,
  bundle: ToolBundle,
  onCutOff: (workflowId: string) => void,
): Promise<Worker> {
  const { config, logger, keys } = parts;
  const { namespace, taskQueue } = config.temporal;
  const progress = createToolProgressWriters(parts.storage);
  const [author, workflowBundle] = await Promise.all([
    loadAuthorCode(bundle),
    bundle.workflows === '' ? null : joinWithSdk({ code: bundle.workflows, hasInterceptors: true }),
  ]);
  return withoutHungThreads({ logger, silentMs: silentTasks * longestTaskMs }, () =>
    Worker.create({
      connection,
      namespace,
      taskQueue: toolQueueName(taskQueue, bundle.hash),
      ...(workflowBundle && { workflowBundle }),
      // A context for each call: in a shared one, what a call changes of a built-in prototype is there for the next, which may be
      // another user's (docs/decisions/0079-a-context-for-each-call.md).
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
        fn(_info, call, told) {
          progress.note(call, told);
        },
      },
      taskBegan: {
        fn({ workflowId }, atMs) {
          // Somewhat early, and a clock may be set forward: either costs a look at the call, and nothing else.
          if (Date.now() - atMs >= 0.9 * longestTaskMs) onCutOff(workflowId);
        },
      },
    },
  };
}
