/**
 * The activities as the workflow calls them: how long each may take and what a failure means.
 *
 * Short database writes are retried until the database answers: a turn waits for its database, it does not fail
 * because of it. Failures of model and tool calls carry the flag that says whether they may be retried.
 */
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { maximumAttempts } from './failures.ts';
import { shortWrites } from './short-writes.ts';

export const {
  announceEnd,
  abandonCall,
  openElicitation,
  settleElicitations,
  refuseToolCall,
  finishDelegation,
  finishModelQuestion,
  endTurn,
} =
  proxyLocalActivities<
    Pick<
      Activities,
      | 'announceEnd'
      | 'abandonCall'
      | 'openElicitation'
      | 'settleElicitations'
      | 'refuseToolCall'
      | 'finishDelegation'
      | 'finishModelQuestion'
      | 'endTurn'
    >
  >(shortWrites);

export const { callModel } = proxyActivities<Pick<Activities, 'callModel'>>({
  startToCloseTimeout: '10m',
  // How long a dead worker goes unnoticed; then another one takes the call.
  heartbeatTimeout: '12s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s', maximumAttempts },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * Retrying is safe: the activity reads from the tool call's row whether a request may have been sent, and if so repeats
 * only tools that are declared repeatable. The server's own timeout is enforced inside the activity.
 */
export const { callTool } = proxyActivities<Pick<Activities, 'callTool'>>({
  // Only a default: each call passes `limits.toolCallMs`. Servers of the old era keep the request open while people think.
  startToCloseTimeout: '1h',
  heartbeatTimeout: '12s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** The last check before a question about an account expires. One short attempt: the workflow waits for it. */
export const { findConnection } = proxyActivities<Pick<Activities, 'findConnection'>>({
  startToCloseTimeout: '5s',
  scheduleToCloseTimeout: '10s',
  retry: { maximumAttempts: 1 },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});
