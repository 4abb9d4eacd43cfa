import { activityInfo, heartbeat } from '@temporalio/activity';

/**
 * Heartbeats only say that the worker is alive: after `heartbeatTimeout` without one, Temporal starts another attempt. That
 * its turn ends, an activity learns from the database, so they need not be frequent; Temporal Cloud bills each one.
 */
export const heartbeatMs = 5_000;

/** Sends heartbeats until `work` has ended. Local activities need none: their workflow's task says that the worker is alive. */
export async function whileHeartbeating<T>(work: () => Promise<T>): Promise<T> {
  if (activityInfo().isLocal) return work();
  const timer = setInterval(heartbeat, heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
