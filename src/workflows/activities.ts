/**
 * The activities as the workflow calls them: how long each may take and what a failure means.
 *
 * Short database writes retry until the database is back: a turn waits for its database, it does not fail
 * because of it. Model and tool calls say themselves what may be repeated.
 */
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';

const untilTheDatabaseIsBack = {
  initialInterval: '100ms',
  backoffCoefficient: 2,
  maximumInterval: '10s',
} as const;

/**
 * Short writes run inside the workflow task: one marker in history, no round trip, and no activity slot, of which calls
 * that wait for somebody may have taken the last. An activity that fails for another reason than the database's gives
 * up by itself (see safe-failures.ts).
 */
export const {
  announceEnd,
  abandonCall,
  openElicitation,
  settleElicitations,
  refuseToolCall,
  finishDelegation,
  endTurn,
} = proxyLocalActivities<
  Pick<
    Activities,
    | 'announceEnd'
    | 'abandonCall'
    | 'openElicitation'
    | 'settleElicitations'
    | 'refuseToolCall'
    | 'finishDelegation'
    | 'endTurn'
  >
>({
  startToCloseTimeout: '10s',
  retry: untilTheDatabaseIsBack,
});

export const { callModel } = proxyActivities<Pick<Activities, 'callModel'>>({
  startToCloseTimeout: '10m',
  // A worker that dies is noticed after this long, and the call goes to another one.
  heartbeatTimeout: '12s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s', maximumAttempts: 5 },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * Repeating the activity is safe: it reads from the tool call's row whether a request may have left, and then
 * repeats only what is declared repeatable. The server's own timeout is enforced inside.
 */
export const { callTool } = proxyActivities<Pick<Activities, 'callTool'>>({
  // Each turn says how long (see `limits`): servers of the old era hold the line while people think.
  startToCloseTimeout: '1h',
  heartbeatTimeout: '12s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts: 5 },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** The last look before a question expires; nobody should wait long for it. */
export const { findConnection } = proxyActivities<Pick<Activities, 'findConnection'>>({
  startToCloseTimeout: '5s',
  scheduleToCloseTimeout: '10s',
  retry: { maximumAttempts: 1 },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});
