/** A delegated agent tells the agent that asked it whether it works or only waits for a person. */
import { getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import { delegatePhase } from './messages.ts';
import type { DelegatePhase, TurnInput } from './messages.ts';

/** Resolves when the other agent has it, or never will. */
export type ReportToParent = (phase: DelegatePhase['phase']) => Promise<void>;

/** Null for a turn's own agent, which nobody but a client has asked. */
export function createReportToParent({ delegation }: TurnInput): ReportToParent | null {
  const { parent } = workflowInfo();
  if (!delegation || !parent) return null;
  const { toolCallId } = delegation;
  const asking = getExternalWorkflowHandle(parent.workflowId);
  // One after the other: signals under way at the same time may arrive in any order.
  let told = Promise.resolve();
  let last: DelegatePhase['phase'] = 'working';
  return (phase) => {
    if (phase !== last)
      told = told.then(() => asking.signal(delegatePhase, { toolCallId, phase })).catch(() => undefined);
    last = phase;
    return told;
  };
}
