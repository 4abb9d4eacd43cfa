/** One tool call, from the model's wish to a result the model can read, with as many questions as it takes. */
import {
  ActivityFailure,
  CancellationScope,
  isCancellation,
  sleep,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { Refusal } from '../elicitation/wording.ts';
import type { QuestionOutcome } from '../turn/ask.ts';
import type { AttemptResult, ServerCall, ToolCallInput } from '../turn/tool-call.ts';
import { callTool, refuseToolCall } from './activities.ts';
import type { ConnectAccount } from './connect-account.ts';
import { outlastingTheDatabase } from './failures.ts';
import type { TurnInput } from './messages.ts';
import { createServerQuestions } from './server-questions.ts';
import type { QuestionParts } from './server-questions.ts';
import type { ServerSignals } from './server-signals.ts';

export interface ToolCallParts extends QuestionParts {
  connectAccount: ConnectAccount;
  signals: ServerSignals;
}

/** A server that has refused two fresh connections would refuse a third one. */
const maxConnects = 2;

/** Exponential backoff for a server that only wants to be called again a little later. */
const firstPauseMs = 250;
const longestPauseMs = 30_000;

/**
 * Grace period of a call that is cancelled: it hears of that at once and says what became of it, unless its worker has
 * died. Shorter than a new message waits for its turn. What a call writes later is refused.
 */
const gracePeriodMs = 2_000;

export async function runToolCall(turn: TurnInput, call: ServerCall, parts: ToolCallParts): Promise<void> {
  const { toolName: summary, toolCallId, server, tool } = call;
  const { unwritten, connectAccount, signals, whileAsking } = parts;
  const calling = new CancellationScope();
  let isRefused = false;
  const fromServer = createServerQuestions(turn, call, parts, () => void refuseWhileCalling());
  let progress: Pick<ToolCallInput, 'connects' | 'round'> = { connects: 0, round: 0 };
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
      case 'asks': {
        progress = { ...progress, round: result.round };
        if (result.questions.length === 0) {
          await sleep(Math.min(firstPauseMs * 2 ** pauses++, longestPauseMs));
          continue;
        }
        // What becomes of a call that was left open is told by signal, too.
        const given = await signals.during(toolCallId, fromServer, () => fromServer.ask(result));
        if (given === null) return refuse('question-too-many');
        answers.push(...given);
        continue;
      }
      default:
        return result satisfies never;
    }
  }

  /** An activity that gave up is the tool's failure, not the turn's: the model is told and can go on. */
  async function attempt(input: Omit<ToolCallInput, 'outcomes'>): Promise<AttemptResult | null> {
    const options = { summary, startToCloseTimeout: turn.limits.toolCallMs };
    try {
      return await unwritten.writtenBy((outcomes) =>
        calling.run(() =>
          outlastingTheDatabase(() =>
            orGivenUp(callTool.executeWithOptions(options, [{ ...input, outcomes }]), fromServer.abandon),
          ),
        ),
      );
    } catch (error) {
      // Its worker has died while it held the connection, and no other attempt follows.
      if (error instanceof ActivityFailure && error.cause instanceof TimeoutFailure) fromServer.abandon();
      if (isRefused) return { kind: 'finished' };
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      return null;
    } finally {
      fromServer.end();
    }
  }

  function refuse(refusal: Refusal): Promise<void> {
    const ended = { turn, toolCallId, server, refusal };
    const options = { summary: `${summary}: ${refusal}` };
    return unwritten.writtenBy((outcomes) =>
      refuseToolCall.executeWithOptions(options, [{ ...ended, outcomes }]),
    );
  }

  /** The first end counts: what the call itself makes of being stopped comes too late. */
  async function refuseWhileCalling(): Promise<void> {
    isRefused = true;
    await refuse('question-too-many').catch(() => undefined);
    calling.cancel();
  }
}

/**
 * The work, or the cancellation of its scope once the grace period is over: `giveUp` is called then. To be called in the
 * scope that is cancelled when the work is to stop.
 */
function orGivenUp<T>(work: Promise<T>, giveUp: () => void): Promise<T> {
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
