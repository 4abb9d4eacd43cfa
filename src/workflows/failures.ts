/** What a failed activity means for the turn: it is repeated, or it ends the turn. */
import type { Duration, LocalActivityOptions } from '@temporalio/common';
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import { activityFailed, databaseTrouble, turnIsOver } from '../turn/step.ts';
import type { Repetition } from '../turn/step.ts';
import type { TurnEnd } from '../turn/turn.ts';
import type { CodedFailure } from '../turn/turn-failure.ts';
import type { TurnInput } from './messages.ts';

/** The attempts of each activity that is passed to `retryUntilDatabaseAnswers`. */
export const maximumAttempts = 5;

/**
 * Options of local activities, which run inside the workflow task: one marker in history, no round trip, and no activity
 * slot (calls that wait for a person may hold all slots). They are retried until the database answers; the activity itself
 * makes other failures non-retryable (see activities/safe-failures.ts).
 */
export const shortWrites: LocalActivityOptions = {
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '10s' },
};

/** How a turn ends that failed with this error. Failures with a type of their own have a message for people, and a code. */
export function endOf(error: unknown): TurnEnd {
  if (isCancellation(error) || isTurnOver(error)) return { status: 'cancelled' };
  const { type, message = '', details } = causeOf(error) ?? {};
  if (!type || type === activityFailed || type === databaseTrouble)
    return { status: 'failed', failure: { code: 'TurnFailed' } };
  const [failure] = (details ?? []) as [CodedFailure?];
  return { status: 'failed', failure: failure ?? { code: type, message } };
}

/**
 * True if an activity stopped because the turn has ended in the database, or is about to. Then the cancellation of the
 * workflow will follow.
 */
function isTurnOver(error: unknown): boolean {
  const type = causeOf(error)?.type;
  return type !== undefined && type !== null && turnIsOver.includes(type);
}

/** Throws the cancellation if the turn is over, after waiting for it; otherwise throws `error`. */
export async function untilCancelled(error: unknown): Promise<never> {
  if (isTurnOver(error)) await CancellationScope.current().cancelRequested;
  throw error;
}

/** True if the activity has used up its attempts, and the turn goes on without its result. */
export function isGivenUp(error: unknown): error is ActivityFailure {
  return error instanceof ActivityFailure && !isCancellation(error) && !isTurnOver(error);
}

/**
 * Repeats an activity every 10 s while it uses up its attempts because the database is down. `again` must be part of the
 * activity's input: its attempt numbers then continue those of the activities before it.
 */
export async function retryUntilDatabaseAnswers<T>(
  run: (again: Repetition) => Promise<T>,
  attemptsBefore = 0,
): Promise<T> {
  return retryThroughOutage(run, attemptsBefore, (error) => isDatabaseAway(error) && 'the database is away');
}

/**
 * As `retryUntilDatabaseAnswers`, and for about five minutes while no worker keeps sending heartbeats: workers that have too
 * little processor time, or are frozen. Not for longer, because the activity itself may be what ends its workers.
 */
export async function retryUntilWorkersKeepUp<T>(
  run: (again: Repetition) => Promise<T>,
  attemptsBefore: number,
): Promise<T> {
  let timesLeft = 3;
  return retryThroughOutage(run, attemptsBefore, (error) => {
    if (isDatabaseAway(error)) return 'the database is away';
    return isWithoutHeartbeats(error) && timesLeft-- > 0 && 'workers are too slow';
  });
}

/** `outageIn` returns what to wait for, in the words of the Temporal UI, or false. */
async function retryThroughOutage<T>(
  run: (again: Repetition) => Promise<T>,
  attemptsBefore: number,
  outageIn: (error: ActivityFailure) => string | false,
): Promise<T> {
  let again: Repetition = attemptsBefore === 0 ? {} : { repeats: { attempts: attemptsBefore } };
  for (;;) {
    let summary: string;
    try {
      return await run(again);
    } catch (error) {
      const outage = error instanceof ActivityFailure && outageIn(error);
      if (!outage) throw error;
      summary = outage;
      again = { repeats: { attempts: (again.repeats?.attempts ?? 0) + maximumAttempts } };
    }
    await sleep('10s', { summary });
  }
}

/**
 * A number larger than all attempts (and executions of a call) that were made before this workflow, or the one that
 * started it, was reset or started again by an operator (`attemptsBefore`); 0 otherwise. Rows then accept the new
 * attempts as newer, and refuse writes of the old ones. It is the time since the start in milliseconds: an attempt
 * takes longer than a millisecond.
 */
export function attemptsBeforeReset({ attemptsBefore = 0 }: TurnInput): number {
  const { runId, originalExecutionRunId, startTime } = workflowInfo();
  // Undefined in older SDKs, which may run this code.
  const isReset = Boolean(originalExecutionRunId) && originalExecutionRunId !== runId;
  return attemptsBefore + (isReset ? Date.now() - startTime.getTime() : 0);
}

export function isDatabaseAway(error: unknown): boolean {
  return causeOf(error)?.type === databaseTrouble;
}

function isWithoutHeartbeats({ cause }: ActivityFailure): boolean {
  return cause instanceof TimeoutFailure && cause.timeoutType === 'HEARTBEAT';
}

/** Waits for `work`. Once the current scope is cancelled, waits only this long, then throws the cancellation. */
export function withGracePeriod<T>(work: Promise<T>, gracePeriod: Duration): Promise<T> {
  const tooLate = CancellationScope.current().cancelRequested.catch(async (error: unknown) => {
    await CancellationScope.nonCancellable(() => sleep(gracePeriod));
    throw error;
  });
  return Promise.race([work, tooLate]);
}

function causeOf(error: unknown): ApplicationFailure | null {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure ? cause : null;
}
