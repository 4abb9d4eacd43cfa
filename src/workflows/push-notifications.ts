/** The workflow that delivers notifications of one turn to one target. */
import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { deliverTurn, lookRetry } from './deliver-turn.ts';
import { retryUntilDatabaseAnswers } from './failures.ts';
import type { PushInput, PushResult } from './messages.ts';

const { deliverNotifications, giveUpDelivery } = proxyActivities<
  Pick<Activities, 'deliverNotifications' | 'giveUpDelivery'>
>({
  // A target may take ten seconds for each of a handful of notifications.
  startToCloseTimeout: '5m',
  heartbeatTimeout: '12s',
  retry: lookRetry,
});

const ends = { ended: 'delivered', removed: 'removed' } as const;

export async function pushNotifications(input: PushInput): Promise<PushResult> {
  const { deliveryId, deadlineMs } = input;
  const outcome = await deliverTurn({
    ...input,
    busyMs: 1_000,
    look: (at) => deliverNotifications({ deliveryId, ...at }),
    ends,
  });
  switch (outcome.kind) {
    case 'over':
      return { status: outcome.status };
    case 'overdue':
      await retryUntilDatabaseAnswers(() => giveUpDelivery({ deliveryId }));
      return { status: 'given-up' };
    case 'unfinished':
      return continueAsNew<typeof pushNotifications>({ deliveryId, deadlineMs, ...outcome.progress });
    default:
      return outcome satisfies never;
  }
}
