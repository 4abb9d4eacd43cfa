/** What a failed activity means for the turn: it is run again, or it ends the turn. */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { Duration, LocalActivityOptions } from '@temporalio/common';
import { activityFailed, databaseTrouble, turnIsOver } from '../turn/failure-types.ts';
import type { Repetition } from '../turn/repetition.ts';
import type { TurnEnd } from '../turn/turn.ts';
import type { TurnInput } from './messages.ts';

/** The attempts of each activity that is passed to `retryUntilDatabaseAnswers`. */
export const maximumAttempts = 5;

/**
 * Options of local activities, which run inside the workflow task: one marker in history, no round trip, and no activity
 * slot (calls that wait for a person may hold all of them). They are retried until the database answers; the activity itself
 * makes other failures non-retryable (see activities/safe-failures.ts).
 */
export const shortWrites: LocalActivityOptions = {
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '10s' },
};

/** How a turn ends that has failed with this error. Named failures of activities have a message for people. */
export function endOf(error: unknown): TurnEnd {
  if (isCancellation(error) || isTurnOver(error)) return { status: 'cancelled' };
  const { type, message = '' } = causeOf(error) ?? {};
  if (type && type !== activityFailed && type !== databaseTrouble)
    return { status: 'failed', failure: { code: type, message } };
  return {
    status: 'failed',
    failure: {
      code: 'TurnFailed',
      message: 'Something went wrong on our side, and the answer could not be finished.',
    },
  };
}

/**
 * An activity refused to go on because the turn has ended in the database, or is about to. The cancellation of its workflow
 * is on its way.
 */
function isTurnOver(error: unknown): boolean {
  const type = causeOf(error)?.type;
  return type !== undefined && type !== null && turnIsOver.includes(type);
}

/** To be called where code must not go on when the turn is over: then it throws the cancellation, else `error`. */
export async function untilCancelled(error: unknown): Promise<never> {
  if (isTurnOver(error)) await CancellationScope.current().cancelRequested;
  throw error;
}

/** The activity has used up its attempts, and the turn goes on without its result. */
export function isGivenUp(error: unknown): error is ActivityFailure {
  return error instanceof ActivityFailure && !isCancellation(error) && !isTurnOver(error);
}

/**
 * Runs an activity again every 10 s for as long as it fails, its own attempts used up, because the database is away.
 * `again` is to be part of its input: what it writes goes on from what the activities before it have written.
 */
export async function retryUntilDatabaseAnswers<T>(
  run: (again: Repetition) => Promise<T>,
  attemptsBefore = 0,
): Promise<T> {
  let again: Repetition = attemptsBefore === 0 ? {} : { repeats: { attempts: attemptsBefore } };
  for (;;) {
    try {
      return await run(again);
    } catch (error) {
      if (!(error instanceof ActivityFailure) || !isDatabaseAway(error)) throw error;
      again = { repeats: { attempts: (again.repeats?.attempts ?? 0) + maximumAttempts } };
    }
    await sleep('10s', { summary: 'the database is away' });
  }
}

/**
 * More attempts, and more executions of a call, than were made before this workflow, or the one that started it, was reset; 0
 * where none was. The rows that they have written take what follows as newer, and refuse what they still write. Time goes on
 * when a workflow is reset, and an attempt takes longer than a millisecond.
 */
export function attemptsBeforeReset({ attemptsBefore = 0 }: Pick<TurnInput, 'attemptsBefore'>): number {
  const { runId, originalExecutionRunId, startTime } = workflowInfo();
  // Older SDKs, which a worker may run this code with, leave it out.
  const isReset = Boolean(originalExecutionRunId) && originalExecutionRunId !== runId;
  return attemptsBefore + (isReset ? Date.now() - startTime.getTime() : 0);
}

export function isDatabaseAway(error: unknown): boolean {
  return causeOf(error)?.type === databaseTrouble;
}

/** Waits for `work`; once the current scope is cancelled only for this long, and then throws the cancellation. */
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
