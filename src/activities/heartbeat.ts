import { heartbeat } from '@temporalio/activity';

/** Tells Temporal every second that this worker is alive, and hears whether the turn was cancelled. */
export async function whileHeartbeating<T>(work: () => Promise<T>): Promise<T> {
  const beat = setInterval(heartbeat, 1_000);
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
}
