/**
 * Another attempt at a tool call that has failed, after a pause in which nothing is held. Failures are counted in the row of the
 * call: the attempts of its activity also fail while the database is away.
 */
import { ApplicationFailure, activityInfo } from '@temporalio/activity';
import type { Storage } from '../../storage/storage.ts';
import { isLastAttempt } from '../safe-failures.ts';
import { isTurnEnding } from '../stop-signal.ts';
import { keepTrying } from '../tool-results.ts';
import type { Attempt } from './attempt.ts';

const pausesMs = [1_000, 3_000, 10_000, 20_000];
const longestPauseMs = 60_000;

interface Retry {
  message: string;
  type: 'CredentialStoreAway' | 'ServerNotReached' | 'ToolOutcomeUnknown';
  /** How many failures are followed by another attempt. */
  most?: number;
  /** An earlier attempt would be in vain. */
  atLeastMs?: number;
}

/** Ends the attempt, unless the call has failed too often or its turn is ending: then null. */
export async function retryLater(
  { storage }: { storage: Pick<Storage, 'toolCalls'> },
  { input: { turn, toolCallId }, by }: Pick<Attempt, 'input' | 'by'>,
  { message, type, most = pausesMs.length, atLeastMs = 0 }: Retry,
): Promise<{ kind: 'later' } | null> {
  if (isTurnEnding()) return null;
  const failures = await keepTrying(() => storage.toolCalls.countFailure(turn, toolCallId, by));
  if (failures > most) return null;
  // The workflow executes another activity, which has attempts of its own.
  if (isLastAttempt(activityInfo())) return { kind: 'later' };
  // With a delay of 0, Temporal repeats nothing.
  const pauseMs = Math.max(pausesMs[Math.max(failures - 1, 0)] ?? 0, atLeastMs);
  throw ApplicationFailure.create({ message, type, nextRetryDelay: Math.min(longestPauseMs, pauseMs) });
}
