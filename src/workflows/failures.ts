/** What a failed activity means for the turn, and for the people who read how it ended. */
import { ActivityFailure, ApplicationFailure, sleep } from '@temporalio/workflow';
import { activityFailed, databaseTrouble } from '../turn/failure-types.ts';
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

/** Runs `work` again every 10 s for as long as it fails, its own attempts used up, because the database is away. */
export async function retryUntilDatabaseAnswers<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
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
