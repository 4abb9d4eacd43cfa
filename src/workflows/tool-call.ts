/** Runs one tool call until the model has a result: attempts, and between them the questions that attempts end with. */
import {
  ActivityFailure,
  CancellationScope,
  isCancellation,
  sleep,
  TimeoutFailure,
  uuid4,
} from '@temporalio/workflow';
import type { Refusal } from '../elicitation/wording.ts';
import type { ApprovalAsk, QuestionOutcome } from '../turn/ask.ts';
import type { ApprovalRefused, AttemptResult, ServerCall, ToolCallInput } from '../turn/tool-call.ts';
import { callTool, refuseToolCall } from './activities.ts';
import type { ConnectAccount } from './connect-account.ts';
import { retryUntilDatabaseAnswers } from './failures.ts';
import type { TurnInput } from './messages.ts';
import { createServerQuestions } from './server-questions.ts';
import type { QuestionParts } from './server-questions.ts';
import type { ServerSignals } from './server-signals.ts';

export interface ToolCallParts extends QuestionParts {
  connectAccount: ConnectAccount;
  signals: ServerSignals;
}

/** How often the user is asked, in one call, to connect an account: a server that refused two new ones refuses a third. */
const maxConnects = 2;

/** Exponential backoff for a server that asks nothing but to be called again later. */
const firstPauseMs = 250;
const longestPauseMs = 30_000;

/**
 * Grace period of a cancelled call: its activity is told at once and writes how the call ended, unless its worker has
 * died. Shorter than a new message waits for the superseded turn. What the call writes after it is refused.
 */
const gracePeriodMs = 2_000;

export async function runToolCall(turn: TurnInput, call: ServerCall, parts: ToolCallParts): Promise<void> {
  const { toolName: summary, toolCallId, server, tool } = call;
  const { unwritten, questions, elicit, connectAccount, signals, whileAsking } = parts;
  const calling = new CancellationScope();
  let isRefused = false;
  const fromServer = createServerQuestions(turn, call, parts, () => void refuseWhileCalling());
  let progress: Pick<ToolCallInput, 'connects' | 'round' | 'approval'> = { connects: 0, round: 0 };
  let pauses = 0;
  const answers: QuestionOutcome[] = [];

  for (;;) {
    const input = { turn, toolCallId, server, tool, ...progress, answers };
    const result = await signals.during(toolCallId, fromServer, () => attempt(input));
    if (result === null) return refuse('failed');
    switch (result.kind) {
      case 'finished':
        return;
      case 'connection-required': {
        if (progress.connects === maxConnects) return refuse('still-refused');
        const answer = await whileAsking(toolCallId, () => connectAccount(result.ask, result.user));
        if (answer !== 'accept') return refuse(answer);
        progress = { ...progress, connects: progress.connects + 1 };
        continue;
      }
      case 'approval-required': {
        const { outcome, ...approval } = await askForApproval(result.ask, result.user);
        if (outcome !== 'accept') return refuse({ kind: 'approval', refusal: outcome, ...approval });
        progress = { ...progress, approval: { ...approval, digest: result.ask.digest } };
        continue;
      }
      case 'asks': {
        progress = { ...progress, round: result.round };
        if (result.questions.length === 0) {
          await sleep(Math.min(firstPauseMs * 2 ** pauses++, longestPauseMs));
          continue;
        }
        // Updates of a call that was left open come by signal.
        const given = await signals.during(toolCallId, fromServer, () => fromServer.ask(result));
        if (given === null) return refuse('question-too-many');
        answers.push(...given);
        continue;
      }
      default:
        return result satisfies never;
    }
  }

  async function askForApproval(ask: ApprovalAsk, user: string) {
    const elicitationId = uuid4();
    const outcome = await whileAsking(toolCallId, () => elicit(ask, user, elicitationId));
    const responseId = questions.settlement(elicitationId)?.responseId ?? null;
    return { outcome, elicitationId, responseId };
  }

  /** Null when the activity has failed for good: the call fails, not the turn. */
  async function attempt(input: Omit<ToolCallInput, 'outcomes'>): Promise<AttemptResult | null> {
    const options = { summary, startToCloseTimeout: turn.limits.toolCallMs };
    try {
      return await unwritten.writtenBy((outcomes) =>
        calling.run(() =>
          retryUntilDatabaseAnswers(() =>
            withGracePeriod(
              callTool.executeWithOptions(options, [{ ...input, outcomes }]),
              fromServer.abandon,
            ),
          ),
        ),
      );
    } catch (error) {
      // The worker died while it held the connection, and no attempt is left.
      if (error instanceof ActivityFailure && error.cause instanceof TimeoutFailure) fromServer.abandon();
      if (isRefused) return { kind: 'finished' };
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      return null;
    } finally {
      fromServer.end();
    }
  }

  function refuse(refusal: Refusal | ApprovalRefused): Promise<void> {
    const ended = { turn, toolCallId, server, refusal };
    const why = typeof refusal === 'string' ? refusal : `approval: ${refusal.refusal}`;
    const options = { summary: `${summary}: ${why}` };
    return unwritten.writtenBy((outcomes) =>
      refuseToolCall.executeWithOptions(options, [{ ...ended, outcomes }]),
    );
  }

  /** The refusal is written before the call is cancelled: the first end of a call counts. */
  async function refuseWhileCalling(): Promise<void> {
    isRefused = true;
    await refuse('question-too-many').catch(() => undefined);
    calling.cancel();
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
