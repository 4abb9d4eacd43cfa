/**
 * The loop of a workflow that delivers one turn, such as to a thread in Slack, as it happens: in order, until its end is
 * delivered, the target is gone, or it has failed for too long. Nothing is held while a person thinks: the workflow looks
 * again now and then, and at once on a signal that something happens.
 */
import {
  ActivityFailure,
  condition,
  isCancellation,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { DeliveryReport } from '../turn/delivery-report.ts';
import { isDatabaseAway } from './failures.ts';
import { turnNews } from './messages.ts';

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
const longestLookMs = 30_000;

/** A look that has used up these attempts counts like a failure that the target reports. */
export const lookRetry = {
  initialInterval: '500ms',
  backoffCoefficient: 2,
  maximumInterval: '10s',
  maximumAttempts: 5,
} as const;

/** How far it has come; what a run hands to the next one when its history has become long. */
interface Progress<Position> {
  /** Up to where in the log it is delivered. */
  position: Position;
  failingSince: number | null;
}

export interface Look<Position> {
  position: Position;
  /** Something is about to happen, although the log does not say so yet. */
  isAwaited: boolean;
}

interface Options<Position, End extends string, Status> extends Progress<Position> {
  /** How long the target may fail. */
  deadlineMs: number;
  busyMs: number;
  look(at: Look<Position>): Promise<DeliveryReport<Position, End>>;
  /** What it means that nothing is left to do. */
  ends: Record<End, Status>;
}

type Outcome<Position, Status> =
  | { kind: 'over'; status: Status }
  | { kind: 'overdue' }
  /** The history has become long. */
  | { kind: 'unfinished'; progress: Progress<Position> };

export async function deliverTurn<Position, End extends string, Status>(
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

/** A failed look counts against the deadline; one that the database failed does not. */
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
