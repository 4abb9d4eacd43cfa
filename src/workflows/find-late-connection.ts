/** The last look for an account that is kept elsewhere: it may have been connected though nobody said so. */
import { ActivityFailure, isCancellation } from '@temporalio/workflow';
import type { ExpectedConnection } from '../turn/ask.ts';
import { findConnection } from './activities.ts';

/** The version of the account that is there after all, or null. Takes seconds at most. */
export async function findLateConnection(expected: ExpectedConnection): Promise<number | null> {
  try {
    return await findConnection.executeWithOptions({ summary: `connect ${expected.server}` }, [expected]);
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return null;
  }
}
