import { heartbeat } from '@temporalio/activity';

/**
 * Each is an action that Temporal Cloud bills. Nothing waits for one: that its turn ends, an activity hears from the
 * database. They tell that the worker is alive, which is given up after `heartbeatTimeout`.
 */
export const heartbeatMs = 5_000;

/** Tells Temporal now and then that this worker is alive. */
export async function whileHeartbeating<T>(work: () => Promise<T>): Promise<T> {
  const beat = setInterval(heartbeat, heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
}
