/** The last check, before a question expires, for an account that may have been connected without our being notified. */
import { ActivityFailure, isCancellation } from '@temporalio/workflow';
import type { ExpectedConnection } from '../turn/ask.ts';
import { findConnection } from './activities.ts';

/** The connection's version, or null when there is none or the check failed. Takes at most ten seconds. */
export async function findLateConnection(expected: ExpectedConnection): Promise<number | null> {
  try {
    return await findConnection.executeWithOptions({ summary: `connect ${expected.server}` }, [expected]);
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return null;
  }
}
