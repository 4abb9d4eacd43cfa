/** For a question about an account that is kept elsewhere: whether it has been connected, though nobody said so. */
import { ActivityFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import type { ExpectedConnection } from '../activities/find-connection.ts';
import { awaitConnection, findConnection } from './activities.ts';

export interface Lookout {
  /** The version that is there after all, or null. */
  lastLook(): Promise<number | null>;
  end(): void;
}

/** Looks now and then until `end`: one activity, however long it takes, so history does not grow. */
export function lookForConnection(expected: ExpectedConnection, found: (version: number) => void): Lookout {
  const summary = `connect ${expected.server}`;
  const looking = new CancellationScope();
  looking
    .run(() => awaitConnection.executeWithOptions({ summary }, [expected]))
    // Cancelled, or in a way broken that a person's answer and the deadline do not need.
    .then(found, () => undefined);

  return {
    end: () => looking.cancel(),
    async lastLook() {
      looking.cancel();
      try {
        return await findConnection.executeWithOptions({ summary }, [expected]);
      } catch (error) {
        if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
        return null;
      }
    },
  };
}
