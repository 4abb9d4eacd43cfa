/** The activities that the workflow of a turn calls, with their time limits and retries. */
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { modelStepMs } from '../turn/step.ts';
import type { AttemptResult, ExecuteToolInput } from '../turn/step.ts';
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
} = proxyLocalActivities<Activities>(shortWrites);

export const { callModel } = proxyActivities<Activities>({
  startToCloseTimeout: modelStepMs,
  // After this long without heartbeats another worker takes the call.
  heartbeatTimeout: '12s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s', maximumAttempts },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * Runs on the task queue of its tool bundle. It is withdrawn if no worker has begun it after a minute: workers look every
 * few seconds for code that they must run.
 */
export const { executeTool } = proxyActivities<{
  executeTool(input: ExecuteToolInput): Promise<AttemptResult>;
}>({
  scheduleToStartTimeout: unclaimedAfter,
  // Each call passes that of its tool.
  startToCloseTimeout: '1h',
  heartbeatTimeout: '12s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/**
 * Safe to retry: the activity reads from the row of the call whether a request may have been sent, and then repeats only
 * tools that are declared repeatable. It enforces the server's own timeout itself, and goes on with the next model step if
 * the call is the only one of its step.
 */
export const { callTool } = proxyActivities<Activities>({
  // Each call passes `limits.toolCallMs`, plus the time of the model step that it goes on with. Servers of older protocol
  // versions keep the request open while people think.
  startToCloseTimeout: '1h',
  heartbeatTimeout: '12s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});
