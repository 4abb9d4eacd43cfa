/** Backoff of a tool call whose server or credential store is away: its activity is retried, and nothing is held meanwhile. */
import { ApplicationFailure, activityInfo } from '@temporalio/activity';
import { isTurnEnding } from '../stop-signal.ts';

/** Before each of the retries that a tool call has. */
const pausesMs = [1_000, 3_000, 10_000, 20_000];
const longestPauseMs = 60_000;

export function mayRetryLater(): boolean {
  return activityInfo().attempt <= pausesMs.length && !isTurnEnding();
}

/** `atLeastMs`: earlier would be in vain. */
export function retryLater(message: string, type: string, atLeastMs = 0): ApplicationFailure {
  const pauseMs = pausesMs[activityInfo().attempt - 1] ?? 0;
  const nextRetryDelay = Math.min(longestPauseMs, Math.max(pauseMs, atLeastMs));
  return ApplicationFailure.create({ message, type, nextRetryDelay });
}
