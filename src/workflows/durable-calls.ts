/**
 * A call of a tool in TypeScript, as the agent's workflow sees it: the tool is a workflow of its own, run by workers of
 * the code that the call began with. Such a worker may be gone, or never come.
 */
import {
  CancellationScope,
  proxyLocalActivities,
  sleep,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import type { DurableCallActivities } from '../activities/durable-tools/durable-calls.ts';
import type { DurableCall, GivenApproval } from '../turn/tool-call.ts';
import { childOptions } from './child-options.ts';
import type { Children } from './children.ts';
import { durableToolWorkflow } from './messages.ts';
import type { DurableToolEnd, DurableToolInput, TurnInput } from './messages.ts';
import { shortWrites } from './short-writes.ts';
import { toolQueueName } from './tool-queue.ts';

const { finishLostTool, withdrawUnbegunTool } = proxyLocalActivities<DurableCallActivities>(shortWrites);

/** After this long without a worker the call is withdrawn. Workers look every few seconds for code that they are to run. */
const unclaimedAfter = '1m';

/** Grace period of a tool that is cancelled, whose worker may have died. Shorter than a new message waits. */
const gracePeriod = '8s';

/** Runs the tool to its end. */
export async function runTool(
  turn: TurnInput,
  call: DurableCall,
  { children }: { children: Pick<Children, 'run' | 'ended'> },
  approval?: GivenApproval,
): Promise<void> {
  const { toolCallId, toolName, bundle } = call;
  const input: DurableToolInput = {
    turn: { ...turn, supersededByParent: true },
    toolCallId,
    toolName,
    ...(approval && { approval }),
  };
  const end = await children.run<DurableToolEnd>(
    { kind: 'tool', toolCallId, name: toolName },
    {
      start: () =>
        startChild(durableToolWorkflow, {
          ...childOptions(turn),
          memo: { turnId: turn.turnId, toolName },
          staticSummary: `${toolName}, called by ${turn.agent}, for ${turn.user ?? 'a service'}`,
          workflowId: `${workflowInfo().workflowId}/tool/${toolCallId}`,
          taskQueue: toolQueueName(workflowInfo().taskQueue, bundle),
          args: [input],
        }),
      follow: (result) => followDurableTool(turn, call, result),
    },
  );
  if (end) children.ended(end);
  else await endLostTool(turn, call);
}

/** Waits for the tool's end, as long as somebody runs it. To be called in the scope that is cancelled when it is to stop. */
async function followDurableTool(
  turn: TurnInput,
  { toolCallId, toolName }: DurableCall,
  result: Promise<DurableToolEnd>,
): Promise<DurableToolEnd> {
  // What cancels the call does not end the watch: the tool itself says what became of it.
  const watching = new CancellationScope({
    cancellable: true,
    parent: new CancellationScope({ cancellable: false }),
  });
  const withdrawn = watching.run(async () => {
    await sleep(unclaimedAfter, { summary: `${toolName}: does a worker run it?` });
    const isUnbegun = await withdrawUnbegunTool({ turn, toolCallId });
    // The model has been told; whoever runs it later finds the call finished.
    return isUnbegun ? ({ status: 'finished' } as const) : result;
  });
  withdrawn.catch(() => undefined);
  try {
    return await Promise.race([result, withdrawn, cancelledForTooLong()]);
  } finally {
    watching.cancel();
  }
}

/** The tool's workflow was ended from outside, or failed: what it has done nobody knows. */
function endLostTool(turn: TurnInput, { toolCallId, toolName }: DurableCall): Promise<void> {
  const options = { summary: `${toolName}: ended from outside` };
  return finishLostTool.executeWithOptions(options, [{ turn, toolCallId }]);
}

async function cancelledForTooLong(): Promise<never> {
  return CancellationScope.current().cancelRequested.catch(async (error: unknown) => {
    await CancellationScope.nonCancellable(() => sleep(gracePeriod));
    throw error;
  });
}
