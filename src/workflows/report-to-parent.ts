/** A delegated agent, or a tool in TypeScript, signals to its parent agent whether it works or only waits for a person. */
import { getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import { delegatePhase } from './messages.ts';
import type { DelegatePhase } from './messages.ts';

/**
 * Resolves when the signal is delivered or has failed; a phase that was reported last is not sent again, unless it comes with
 * a reply to a new message.
 */
export type ReportToParent = (
  phase: DelegatePhase['phase'],
  reply?: Pick<DelegatePhase, 'agreesTo' | 'refuses'>,
) => Promise<void>;

/** Null for the root agent, which has no parent. */
export function createReportToParent(toolCallId: string | undefined): ReportToParent | null {
  const { parent } = workflowInfo();
  if (toolCallId === undefined || !parent) return null;
  const parentWorkflow = getExternalWorkflowHandle(parent.workflowId);
  // One after the other: signals that are sent concurrently may arrive in any order.
  let delivered = Promise.resolve();
  let last: DelegatePhase['phase'] = 'working';
  return (phase, reply) => {
    if (phase !== last || reply)
      delivered = delivered
        .then(() => parentWorkflow.signal(delegatePhase, { toolCallId, phase, ...reply }))
        .catch(() => undefined);
    last = phase;
    return delivered;
  };
}
