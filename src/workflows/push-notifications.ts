/**
 * The workflow that delivers notifications of one turn to one target: in order, until the turn's end was taken, the target is
 * removed, or it has failed for too long. Nothing is held while a person thinks: it looks again now and then, and at once
 * when it is told that something happens.
 */
import {
  condition,
  continueAsNew,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { turnNews } from './messages.ts';
import type { PushInput, PushResult } from './messages.ts';

const { deliverNotifications, giveUpDelivery } = proxyActivities<
  Pick<Activities, 'deliverNotifications' | 'giveUpDelivery'>
>({
  // A target may take ten seconds for each of a handful of notifications.
  startToCloseTimeout: '5m',
  heartbeatTimeout: '12s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s' },
});

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
const longestLookMs = 30_000;
const busyMs = 1_000;

export async function pushNotifications(input: PushInput): Promise<PushResult> {
  const { deliveryId, deadlineMs } = input;
  let { position, failingSince } = input;
  let isAwaited = false;
  let pauseMs = firstPauseMs;
  setHandler(turnNews, () => {
    isAwaited = true;
  });

  while (!workflowInfo().continueAsNewSuggested) {
    const wasAwaited = isAwaited;
    isAwaited = false;
    const report = await deliverNotifications({ deliveryId, position, isAwaited: wasAwaited });
    if (report.position !== position) {
      pauseMs = firstPauseMs;
      failingSince = null;
    }
    position = report.position;
    switch (report.kind) {
      case 'ended':
        return { status: 'delivered' };
      case 'removed':
        return { status: 'removed' };
      case 'working':
        failingSince = null;
        break;
      case 'busy':
        await sleep(busyMs);
        break;
      case 'waiting':
        failingSince = null;
        await condition(() => isAwaited, pauseMs);
        pauseMs = Math.min(2 * pauseMs, longestLookMs);
        break;
      case 'failed': {
        failingSince ??= Date.now();
        const left = failingSince + deadlineMs - Date.now();
        if (left <= 0) {
          await giveUpDelivery({ deliveryId });
          return { status: 'given-up' };
        }
        // The last try is at the deadline.
        await sleep(Math.min(Math.max(pauseMs, report.retryAfterMs ?? 0), left));
        pauseMs = Math.min(2 * pauseMs, longestPauseMs);
        break;
      }
      default:
        return report.kind satisfies never;
    }
  }
  return continueAsNew<typeof pushNotifications>({ deliveryId, deadlineMs, position, failingSince });
}
