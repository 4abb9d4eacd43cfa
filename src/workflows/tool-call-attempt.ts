/** One attempt of a tool call: its activity, and when to stop waiting for it. */
import {
  ActivityFailure,
  CancellationScope,
  isCancellation,
  sleep,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { AttemptResult, ServerCall, ToolCallInput } from '../turn/tool-call.ts';
import { callTool } from './activities.ts';
import { retryUntilDatabaseAnswers } from './failures.ts';
import type { TurnInput } from './messages.ts';
import type { ServerQuestions } from './server-questions.ts';
import type { UnwrittenOutcomes } from './unwritten-outcomes.ts';

export interface RunningCall {
  turn: TurnInput;
  call: ServerCall;
  unwritten: UnwrittenOutcomes;
  /** Cancelled when the call is to end though its server has not answered. */
  scope: CancellationScope;
  /** Its end is written already: whatever becomes of the attempt. */
  isRefused: boolean;
}

/**
 * Grace period of a cancelled call: its activity is told at once and writes how the call ended, unless its worker has
 * died. Shorter than a new message waits for the superseded turn. What the call writes after it is refused.
 */
const gracePeriodMs = 2_000;

/** Null when the activity has failed for good: the call fails, not the turn. */
export async function attemptToolCall(
  running: RunningCall,
  fromServer: ServerQuestions,
  input: Omit<ToolCallInput, 'outcomes'>,
): Promise<AttemptResult | null> {
  const { turn, call, unwritten, scope } = running;
  const options = { summary: call.toolName, startToCloseTimeout: turn.limits.toolCallMs };
  try {
    return await unwritten.writtenBy((outcomes) =>
      scope.run(() =>
        retryUntilDatabaseAnswers((again) =>
          withGracePeriod(callTool.executeWithOptions(options, [{ ...input, outcomes, ...again }]), () =>
            fromServer.abandon(),
          ),
        ),
      ),
    );
  } catch (error) {
    // The worker died while it held the connection, and no attempt is left.
    if (error instanceof ActivityFailure && error.cause instanceof TimeoutFailure) fromServer.abandon();
    if (running.isRefused) return { kind: 'finished' };
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return null;
  } finally {
    fromServer.end();
  }
}

/**
 * Waits for `work`, and if the current scope is cancelled, only for the grace period: then it calls `giveUp` and throws
 * the cancellation.
 */
function withGracePeriod<T>(work: Promise<T>, giveUp: () => void): Promise<T> {
  let isOver = false;
  const over = () => void (isOver = true);
  work.then(over, over);
  const tooLate = CancellationScope.current().cancelRequested.catch(async (error: unknown) => {
    await CancellationScope.nonCancellable(() => sleep(gracePeriodMs));
    if (!isOver) giveUp();
    throw error;
  });
  return Promise.race([work, tooLate]);
}
