/** The activities as the workflow of a turn calls them: how long each may take and what a failure means. */
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { modelStepMs } from '../turn/step.ts';
import type { AttemptResult, ExecuteToolInput } from '../turn/tool-call.ts';
import { maximumAttempts, shortWrites } from './failures.ts';

/** How long a call of a tool in TypeScript waits for a worker that has its code. */
export const unclaimedAfter = '1m';

export const {
  announceEnd,
  askModelQuestion,
  endTurn,
  failToolCall,
  finishDelegation,
  finishLostTool,
  permitDurableCall,
  withdrawUnbegunTool,
} =
  proxyLocalActivities<
    Pick<
      Activities,
      | 'announceEnd'
      | 'askModelQuestion'
      | 'endTurn'
      | 'failToolCall'
      | 'finishDelegation'
      | 'finishLostTool'
      | 'permitDurableCall'
      | 'withdrawUnbegunTool'
    >
  >(shortWrites);

export const { callModel } = proxyActivities<Pick<Activities, 'callModel'>>({
  startToCloseTimeout: modelStepMs,
  // A dead worker is noticed after this long; then another one takes the call.
  heartbeatTimeout: '12s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s', maximumAttempts },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * On the queue of its tools. It is withdrawn when no worker has begun it after a minute: workers look every few seconds for
 * code that they are to run.
 */
export const { executeTool } = proxyActivities<{
  executeTool(input: ExecuteToolInput): Promise<AttemptResult>;
}>({
  scheduleToStartTimeout: unclaimedAfter,
  // Only a default: each call passes that of its tool.
  startToCloseTimeout: '1h',
  heartbeatTimeout: '12s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/**
 * Retrying is safe: the activity reads from the row of the call whether a request may have been sent, and then repeats only
 * tools that are declared repeatable. The activity itself enforces the server's own timeout, and goes on with the next model
 * step where the call is the only one of its step.
 */
export const { callTool } = proxyActivities<Pick<Activities, 'callTool'>>({
  // Only a default: each call passes `limits.toolCallMs`, and adds the time of a model step that it goes on with. Servers of
  // the old era keep the request open while people think.
  startToCloseTimeout: '1h',
  heartbeatTimeout: '12s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});
