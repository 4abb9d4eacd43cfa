/** The workflow that shows one turn's answer in its thread in Slack. */
import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { deliverTurn, lookRetry } from './deliver-turn.ts';
import { retryUntilDatabaseAnswers } from './failures.ts';
import type { SlackDeliveryInput, SlackDeliveryResult } from './messages.ts';

const { showInSlack, giveUpSlack } = proxyActivities<Pick<Activities, 'showInSlack' | 'giveUpSlack'>>({
  // A long answer is many messages, each of which Slack may take ten seconds for.
  startToCloseTimeout: '10m',
  heartbeatTimeout: '12s',
  retry: lookRetry,
});

const ends = { ended: 'delivered', impossible: 'given-up' } as const;

export async function slackDelivery(input: SlackDeliveryInput): Promise<SlackDeliveryResult> {
  const { turnId, deadlineMs } = input;
  const outcome = await deliverTurn({
    ...input,
    busyMs: 500,
    look: (at) => showInSlack({ turnId, ...at }),
    ends,
  });
  switch (outcome.kind) {
    case 'over':
      return { status: outcome.status };
    case 'overdue':
      await retryUntilDatabaseAnswers(() => giveUpSlack({ turnId }));
      return { status: 'given-up' };
    case 'unfinished':
      return continueAsNew<typeof slackDelivery>({ turnId, deadlineMs, ...outcome.progress });
    default:
      return outcome satisfies never;
  }
}
