/** The child workflows of an agent: delegated agents, and tools in TypeScript. They are cancelled with it and end before it. */
import {
  CancellationScope,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  ParentClosePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import type { ChildWorkflowOptions } from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/common';
import type { TurnInput } from './messages.ts';
import { searchAttributes, taskTimeouts } from './messages.ts';

export function childId(kind: 'agent' | 'tool', toolCallId: string): string {
  return `${workflowInfo().workflowId}/${kind}/${toolCallId}`;
}

/** `turn`: whose agent, user and conversation operators are shown. */
export function childOptions({ turnId, conversation, agent, user }: TurnInput): ChildWorkflowOptions {
  const { executionTimeoutMs } = workflowInfo();
  return {
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    // Only where the parent was reset, and its run before has started it: the new one goes on from the same rows.
    workflowIdReusePolicy: WorkflowIdReusePolicy.TERMINATE_IF_RUNNING,
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    // The child begins later than the turn it is a part of, so that the turn's own time runs out first.
    ...(executionTimeoutMs !== undefined && { workflowExecutionTimeout: executionTimeoutMs }),
    workflowTaskTimeout: taskTimeouts.workflowTask,
    memo: { turnId },
    typedSearchAttributes: [
      { key: searchAttributes.agent, value: agent },
      { key: searchAttributes.conversation, value: conversation },
      ...(user === null ? [] : [{ key: searchAttributes.user, value: user }]),
      { key: searchAttributes.rootTurn, value: turnId },
    ],
    staticDetails: `Part of turn \`${turnId}\` of conversation \`${conversation}\``,
  };
}

/** What a child returns; null when it was ended from outside, by an operator. */
export async function unlessEnded<T>(child: Promise<T>): Promise<T | null> {
  try {
    return await child;
  } catch (error) {
    const isEnded =
      error instanceof ChildWorkflowFailure || error instanceof WorkflowExecutionAlreadyStartedError;
    if (isEnded && !CancellationScope.current().consideredCancelled) return null;
    throw error;
  }
}
