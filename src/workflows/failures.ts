/** What a failed activity means for the turn, and for the people who read how it ended. */
import { ActivityFailure, ApplicationFailure, sleep } from '@temporalio/workflow';
import { activityFailed, databaseTrouble } from '../turn/failure-types.ts';
import type { TurnFailure } from '../turn/turn.ts';

/** Activities throw failures whose message is made for people; anything else stays unnamed. */
export function failureOf(error: unknown): TurnFailure {
  const cause = causeOf(error);
  if (cause?.type && cause.type !== activityFailed && cause.type !== databaseTrouble)
    return { code: cause.type, message: cause.message };
  return {
    code: 'TurnFailed',
    message: 'Something went wrong on our side, and the answer could not be finished.',
  };
}

/**
 * A turn waits for its database, it does not fail because of it: a call that has used up its attempts while the database
 * was away is made again.
 */
export async function outlastingTheDatabase<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (causeOf(error)?.type !== databaseTrouble) throw error;
    }
    await sleep('10s', { summary: 'the database is away' });
  }
}

function causeOf(error: unknown): ApplicationFailure | null {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure ? cause : null;
}
