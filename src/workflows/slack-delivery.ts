/**
 * The workflow that shows one turn's answer in its thread in Slack, until all of it is there, it cannot be shown, or Slack
 * has failed for too long. Nothing is held while a person thinks or Slack wants to be left alone: it looks again now and
 * then, and at once when it is told that something happens.
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
import type { SlackDeliveryInput, SlackDeliveryResult } from './messages.ts';

const { showInSlack, giveUpSlack } = proxyActivities<Pick<Activities, 'showInSlack' | 'giveUpSlack'>>({
  // A long answer is many messages, each of which Slack may take ten seconds for.
  startToCloseTimeout: '10m',
  heartbeatTimeout: '12s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s' },
});

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
const longestLookMs = 30_000;
const busyMs = 500;

export async function slackDelivery(input: SlackDeliveryInput): Promise<SlackDeliveryResult> {
  const { turnId, deadlineMs } = input;
  let { position, failingSince } = input;
  let isAwaited = false;
  let pauseMs = firstPauseMs;
  setHandler(turnNews, () => {
    isAwaited = true;
  });

  while (!workflowInfo().continueAsNewSuggested) {
    const wasAwaited = isAwaited;
    isAwaited = false;
    const report = await showInSlack({ turnId, position, isAwaited: wasAwaited });
    if (report.position !== position) {
      pauseMs = firstPauseMs;
      failingSince = null;
    }
    position = report.position;
    switch (report.kind) {
      case 'ended':
        return { status: 'delivered' };
      case 'impossible':
        return { status: 'given-up' };
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
      case 'limited':
        failingSince = null;
        await sleep(report.retryAfterMs ?? firstPauseMs);
        break;
      case 'failed': {
        failingSince ??= Date.now();
        const left = failingSince + deadlineMs - Date.now();
        if (left <= 0) {
          await giveUpSlack({ turnId });
          return { status: 'given-up' };
        }
        // The last try is at the deadline.
        await sleep(Math.min(pauseMs, left));
        pauseMs = Math.min(2 * pauseMs, longestPauseMs);
        break;
      }
      default:
        return report.kind satisfies never;
    }
  }
  return continueAsNew<typeof slackDelivery>({ turnId, deadlineMs, position, failingSince });
}
