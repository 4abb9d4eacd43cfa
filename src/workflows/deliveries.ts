/**
 * The workflows that deliver one turn to a place outside as it happens: push notifications to a target, and the answer to a
 * thread in Slack. They deliver in order, until the end of the turn is delivered, the target is gone, or it has failed for
 * too long. They hold nothing while a person thinks: they look again from time to time, and at once on a signal.
 */
import {
  ActivityFailure,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { isDatabaseAway, retryUntilDatabaseAnswers } from './failures.ts';
import { turnNews } from './messages.ts';
import type {
  DeliveryReport,
  PushInput,
  PushResult,
  SlackDeliveryInput,
  SlackDeliveryResult,
} from './messages.ts';

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
const longestLookMs = 30_000;

/** A look that has used up these attempts counts as a failure of the target. */
const lookRetry = {
  initialInterval: '500ms',
  backoffCoefficient: 2,
  maximumInterval: '10s',
  maximumAttempts: 5,
} as const;

/** What a run hands to the next one when its history has become long. */
interface Progress<Position> {
  /** Position in the log up to which the turn is delivered. */
  position: Position;
  failingSince: number | null;
}

interface Look<Position> {
  position: Position;
  /** Something is about to happen that the log does not show yet. */
  isAwaited: boolean;
}

interface Options<Position, End extends string, Status> extends Progress<Position> {
  /** How long the target may fail. */
  deadlineMs: number;
  busyMs: number;
  look(at: Look<Position>): Promise<DeliveryReport<Position, End>>;
  /** The workflow's status for each report that nothing is left to do. */
  ends: Record<End, Status>;
}

type Outcome<Position, Status> =
  | { kind: 'over'; status: Status }
  | { kind: 'overdue' }
  /** The history has become long. */
  | { kind: 'unfinished'; progress: Progress<Position> };

async function deliverTurn<Position, End extends string, Status>(
  options: Options<Position, End, Status>,
): Promise<Outcome<Position, Status>> {
  const { deadlineMs, busyMs, look, ends } = options;
  let { position, failingSince } = options;
  let isAwaited = false;
  let pauseMs = firstPauseMs;
  setHandler(turnNews, () => {
    isAwaited = true;
  });

  while (!workflowInfo().continueAsNewSuggested) {
    const wasAwaited = isAwaited;
    isAwaited = false;
    const report = await reportOf(look({ position, isAwaited: wasAwaited }), position);
    if (report.position !== position) {
      pauseMs = firstPauseMs;
      failingSince = null;
    }
    position = report.position;
    switch (report.kind) {
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
      case 'failed': {
        failingSince ??= Date.now();
        const left = failingSince + deadlineMs - Date.now();
        if (left <= 0) return { kind: 'overdue' };
        const isLimited = report.kind === 'limited';
        const wanted = isLimited
          ? (report.retryAfterMs ?? firstPauseMs)
          : Math.max(pauseMs, report.retryAfterMs ?? 0);
        // The last try is at the deadline.
        await sleep(Math.min(wanted, left));
        if (!isLimited) pauseMs = Math.min(2 * pauseMs, longestPauseMs);
        break;
      }
      default:
        return { kind: 'over', status: ends[report.kind as End] };
    }
  }
  return { kind: 'unfinished', progress: { position, failingSince } };
}

/** A failed look counts against the deadline, unless the database was the reason. */
async function reportOf<Position, End extends string>(
  looking: Promise<DeliveryReport<Position, End>>,
  position: Position,
): Promise<DeliveryReport<Position, End>> {
  try {
    return await looking;
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return { kind: isDatabaseAway(error) ? 'busy' : 'failed', position };
  }
}

const { deliverNotifications, giveUpDelivery } = proxyActivities<Activities>({
  // A target may take ten seconds for each of a few notifications.
  startToCloseTimeout: '5m',
  heartbeatTimeout: '12s',
  retry: lookRetry,
});

/** Delivers notifications of one turn to one target. */
export async function pushNotifications(input: PushInput): Promise<PushResult> {
  const { deliveryId, deadlineMs } = input;
  const outcome = await deliverTurn({
    ...input,
    busyMs: 1_000,
    look: (at) => deliverNotifications({ deliveryId, ...at }),
    ends: { ended: 'delivered', removed: 'removed' } as const,
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

const { showInSlack, giveUpSlack } = proxyActivities<Activities>({
  // A long answer takes many messages, and Slack may take ten seconds for each.
  startToCloseTimeout: '10m',
  heartbeatTimeout: '12s',
  retry: lookRetry,
});

/** Shows one turn's answer in its thread in Slack. */
export async function slackDelivery(input: SlackDeliveryInput): Promise<SlackDeliveryResult> {
  const { turnId, deadlineMs } = input;
  const outcome = await deliverTurn({
    ...input,
    busyMs: 500,
    look: (at) => showInSlack({ turnId, ...at }),
    ends: { ended: 'delivered', impossible: 'given-up' } as const,
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
