import type { LocalActivityOptions } from '@temporalio/workflow';

/**
 * Options of local activities, which run inside the workflow task: one marker in history, no round trip, and no activity
 * slot (calls that wait for a person may hold all of them). A failure that the database did not cause is thrown as
 * non-retryable by the activity itself (see activities/safe-failures.ts).
 */
export const shortWrites: LocalActivityOptions = {
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '10s' },
};
