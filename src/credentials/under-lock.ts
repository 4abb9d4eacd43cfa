/** The lock of one connection, as the stores use it: for whatever must not happen twice at once, in any process. */
import type { ConnectionKey, Connections } from '../storage/ports/connections.ts';

/**
 * Works on a connection while nobody else does. `otherwise` is for when the lock could not be had in time; what fails in
 * the work itself stays a failure.
 */
export async function underLock<T>(
  { withLock }: Pick<Connections, 'withLock'>,
  { key, waitMs }: { key: ConnectionKey; waitMs: number },
  work: () => Promise<T>,
  otherwise: () => T | Promise<T>,
): Promise<T> {
  let isHeld = false;
  try {
    return await withLock(key, waitMs, () => {
      isHeld = true;
      return work();
    });
  } catch (error) {
    if (isHeld) throw error;
    return otherwise();
  }
}
