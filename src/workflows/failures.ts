/** What a failed activity means for the turn, and for the people who read how it ended. */
import { ActivityFailure, ApplicationFailure, sleep } from '@temporalio/workflow';
import { activityFailed, databaseTrouble } from '../turn/failure-types.ts';
import type { Repetition } from '../turn/repetition.ts';
import type { TurnFailure } from '../turn/turn.ts';

/** Named failures of activities carry a message for people; any other failure becomes a general `TurnFailed`. */
export function failureOf(error: unknown): TurnFailure {
  const cause = causeOf(error);
  if (cause?.type && cause.type !== activityFailed && cause.type !== databaseTrouble)
    return { code: cause.type, message: cause.message };
  return {
    code: 'TurnFailed',
    message: 'Something went wrong on our side, and the answer could not be finished.',
  };
}

/** The attempts of each activity that is passed to `retryUntilDatabaseAnswers`. */
export const maximumAttempts = 5;

/**
 * Runs an activity again every 10 s for as long as it fails, its own attempts used up, because the database is away.
 * `again` is to be part of its input: what it writes goes on from what the activities before it have written.
 */
export async function retryUntilDatabaseAnswers<T>(run: (again: Repetition) => Promise<T>): Promise<T> {
  let again: Repetition = {};
  for (;;) {
    try {
      return await run(again);
    } catch (error) {
      if (!(error instanceof ActivityFailure) || !isDatabaseAway(error)) throw error;
      const { activityId = error.activityId, attempts = 0 } = again.repeats ?? {};
      // Not known only where the type says so; then nothing is repeated that might be done twice.
      if (activityId === undefined) throw error;
      again = { repeats: { activityId, attempts: attempts + maximumAttempts } };
    }
    await sleep('10s', { summary: 'the database is away' });
  }
}

export function isDatabaseAway(error: unknown): boolean {
  return causeOf(error)?.type === databaseTrouble;
}

function causeOf(error: unknown): ApplicationFailure | null {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure ? cause : null;
}
