/**
 * A call of a tool in TypeScript that may ask, as the agent's workflow sees it: the tool is a workflow of its own, run by workers that have
 * the code that the call began with. Such a worker may be gone, or never come.
 */
import { CancellationScope, sleep, startChild, workflowInfo } from '@temporalio/workflow';
import type { DurableCall } from '../turn/step.ts';
import type { GivenApproval } from '../turn/tool-call.ts';
import { finishLostTool, permitDurableCall, unclaimedAfter, withdrawUnbegunTool } from './activities.ts';
import { untilFinished } from './attempts.ts';
import type { Agent } from './attempts.ts';
import { childId, childOptions, unlessEnded } from './children.ts';
import { withGracePeriod } from './failures.ts';
import { durableToolWorkflow, toolQueueName } from './messages.ts';
import type { DurableToolEnd, DurableToolInput, TurnInput } from './messages.ts';

/** Grace period of a tool that is cancelled, whose worker may have died. */
const gracePeriod = '8s';

/** Where a person has to approve the call, the tool is begun after that, or never. */
export async function runDurableCall(agent: Agent, call: DurableCall): Promise<void> {
  const { turn } = agent;
  const { toolCallId, toolName } = call;
  let given: GivenApproval | undefined;
  if (call.approval) {
    const summary = `${toolName}: approved?`;
    const permit = await untilFinished(agent, toolCallId, ({ approval }) => {
      given = approval;
      const input = { turn, toolCallId, ...(approval && { approval }) };
      return permitDurableCall.executeWithOptions({ summary }, [input]);
    });
    if (permit.kind === 'finished') return;
  }
  if ((await unlessEnded(runTool(turn, call, given))) !== null) return;
  const summary = `${toolName}: ended from outside`;
  await finishLostTool.executeWithOptions({ summary }, [{ turn, toolCallId }]);
}

async function runTool(
  turn: TurnInput,
  call: DurableCall,
  approval: GivenApproval | undefined,
): Promise<DurableToolEnd> {
  const { toolCallId, toolName, bundle } = call;
  const input: DurableToolInput = { turn, toolCallId, toolName, ...(approval && { approval }) };
  const tool = await startChild(durableToolWorkflow, {
    ...childOptions(turn),
    memo: { turnId: turn.turnId, toolName },
    staticSummary: `${toolName}, called by ${turn.agent}, for ${turn.user ?? 'a service'}`,
    workflowId: childId('tool', toolCallId),
    taskQueue: toolQueueName(workflowInfo().taskQueue, bundle),
    args: [input],
  });
  return whileClaimed(turn, call, tool.result());
}

/** Waits for the tool's end; it has ended too when no worker has begun to run it. */
async function whileClaimed(
  turn: TurnInput,
  { toolCallId, toolName }: DurableCall,
  result: Promise<DurableToolEnd>,
): Promise<DurableToolEnd> {
  // Cancelling the call does not cancel the watch: the tool itself says what became of it.
  const watch = new CancellationScope({
    cancellable: true,
    parent: new CancellationScope({ cancellable: false }),
  });
  const withdrawn = watch.run(async () => {
    await sleep(unclaimedAfter, { summary: `${toolName}: does a worker run it?` });
    const isUnbegun = await withdrawUnbegunTool({ turn, toolCallId });
    // The model has its result; a worker that runs the tool later finds the call finished.
    return isUnbegun ? ({ status: 'finished' } as const) : result;
  });
  withdrawn.catch(() => undefined);
  try {
    return await withGracePeriod(Promise.race([result, withdrawn]), gracePeriod);
  } finally {
    watch.cancel();
  }
}
