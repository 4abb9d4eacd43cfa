/** The agent that a delegated one works for, to be told whether that works or only waits for a person. */
import { getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import { delegatePhase } from './messages.ts';
import type { DelegatePhase, TurnInput } from './messages.ts';

interface Caller {
  /** Resolves when the caller has it, or never will. */
  tell(phase: DelegatePhase['phase']): Promise<void>;
}

/** Null for a turn's own agent: a client called that. */
export function callerOf({ delegation }: TurnInput): Caller | null {
  const { parent } = workflowInfo();
  if (!delegation || !parent) return null;
  const { toolCallId } = delegation;
  const caller = getExternalWorkflowHandle(parent.workflowId);
  // One after the other: signals under way at the same time may arrive in any order.
  let told = Promise.resolve();
  let last: DelegatePhase['phase'] = 'working';
  return {
    tell(phase) {
      if (phase !== last)
        told = told.then(() => caller.signal(delegatePhase, { toolCallId, phase })).catch(() => undefined);
      last = phase;
      return told;
    },
  };
}
