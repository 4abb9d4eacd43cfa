/** Whether an account that is kept elsewhere has been connected, though nobody said so. */
import { ActivityFailure, isCancellation } from '@temporalio/workflow';
import type { ExpectedConnection } from '../turn/ask.ts';
import { findConnection } from './activities.ts';

/** One look, which nobody should wait long for: the version that is there after all, or null. */
export async function lookForConnection(expected: ExpectedConnection): Promise<number | null> {
  try {
    return await findConnection.executeWithOptions({ summary: `connect ${expected.server}` }, [expected]);
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return null;
  }
}
