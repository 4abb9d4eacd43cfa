import { heartbeat } from '@temporalio/activity';

/** Tells Temporal every two seconds that this worker is alive; a dead one is noticed by the heartbeat timeout. */
export async function whileHeartbeating<T>(work: () => Promise<T>): Promise<T> {
  const beat = setInterval(heartbeat, 2_000);
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
}
