/** How the child workflows of an agent are started: cancelled with it, ended after it, and seen by operators as it is. */
import { ChildWorkflowCancellationType, ParentClosePolicy, workflowInfo } from '@temporalio/workflow';
import type { ChildWorkflowOptions } from '@temporalio/workflow';
import type { TurnInput } from './messages.ts';
import { searchAttributes, taskTimeouts } from './messages.ts';

/** `turn`: whose agent, user and conversation operators are shown. */
export function childOptions({ turnId, conversation, agent, user }: TurnInput): ChildWorkflowOptions {
  const { executionTimeoutMs } = workflowInfo();
  return {
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    // It begins later than the turn it is a part of, so that the turn's own time runs out first.
    ...(executionTimeoutMs !== undefined && { workflowExecutionTimeout: executionTimeoutMs }),
    workflowTaskTimeout: taskTimeouts.workflowTask,
    memo: { turnId },
    typedSearchAttributes: [
      { key: searchAttributes.agent, value: agent },
      { key: searchAttributes.conversation, value: conversation },
      ...(user === null ? [] : [{ key: searchAttributes.user, value: user }]),
      { key: searchAttributes.status, value: 'running' },
    ],
    staticDetails: `Part of turn \`${turnId}\` of conversation \`${conversation}\``,
  };
}
