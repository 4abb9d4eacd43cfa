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
import type { Connect } from './connect-account.ts';
import type { Questions } from './elicit.ts';
import { outlastingTheDatabase } from './failures.ts';
import type { HeldCalls } from './server-signals.ts';
import type { TurnInput } from './messages.ts';
import { createServerQuestions } from './server-questions.ts';

/** How a call gets its user asked. */
export interface Asking {
  questions: Questions;
  connect: Connect;
  held: HeldCalls;
  whileWaiting<T>(toolCallId: string, ask: () => Promise<T>): Promise<T>;
  /** Only the end of the turn waits for this work, which is short. */
  beside(work: Promise<void>): void;
}

/** A server that refuses a fresh connection twice will not be helped by a third one. */
const maxConnects = 2;

/** A server that only wants to be called again a little later: at first soon, then ever more rarely. */
const firstPauseMs = 250;
const longestPauseMs = 30_000;

/**
 * A call that is stopped hears of it at once, and says what became of it; nobody hears anything of one whose worker has
 * died. Less than a new message waits for its turn. What a call writes later counts for nothing.
 */
const stoppingMs = 2_000;

export async function runToolCall(turn: TurnInput, call: ServerCall, asking: Asking): Promise<void> {
  const { toolName: summary, toolCallId, server, tool } = call;
  const { questions, connect, held, whileWaiting } = asking;
  const calling = new CancellationScope();
  let isRefused = false;
  const fromServer = createServerQuestions(turn, call, asking, () => void refuseWhileCalling());
  let progress: Pick<ToolCallInput, 'connects' | 'round'> = { connects: 0, round: 0 };
  let pauses = 0;
  const answers: QuestionOutcome[] = [];

  for (;;) {
    const input = { turn, toolCallId, server, tool, ...progress, answers };
    const outcome = await held.during(toolCallId, fromServer, () => attempt(input));
    if (outcome === null) return refuse('failed');
    switch (outcome.kind) {
      case 'finished':
        return;
      case 'connection-required': {
        if (progress.connects === maxConnects) return refuse('still-refused');
        const answer = await whileWaiting(toolCallId, () => connect(outcome.ask, outcome.user));
        if (answer !== 'accept') return refuse(answer);
        progress = { ...progress, connects: progress.connects + 1 };
        continue;
      }
      case 'asks': {
        progress = { ...progress, round: outcome.round };
        if (outcome.questions.length === 0) {
          await sleep(Math.min(firstPauseMs * 2 ** pauses++, longestPauseMs));
          continue;
        }
        // What becomes of a call that was left open is told by signal, too.
        const given = await held.during(toolCallId, fromServer, () => fromServer.ask(outcome));
        if (given === null) return refuse('question-too-many');
        answers.push(...given);
        continue;
      }
      default:
        return outcome satisfies never;
    }
  }

  /** An activity that gave up is the tool's failure, not the turn's: the model is told and can go on. */
  async function attempt(input: Omit<ToolCallInput, 'outcomes'>): Promise<AttemptResult | null> {
    const options = { summary, startToCloseTimeout: turn.limits.toolCallMs };
    try {
      return await questions.outcomes.writtenBy((outcomes) =>
        calling.run(() =>
          outlastingTheDatabase(() =>
            stoppingSoon(callTool.executeWithOptions(options, [{ ...input, outcomes }]), fromServer.abandon),
          ),
        ),
      );
    } catch (error) {
      // Its worker has died with the line in its hands, and nobody takes the call up again.
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
    return questions.outcomes.writtenBy((outcomes) =>
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

/** To be called in the scope that is cancelled when the work is to stop. */
function stoppingSoon<T>(work: Promise<T>, giveUp: () => void): Promise<T> {
  let isOver = false;
  const over = () => void (isOver = true);
  work.then(over, over);
  const tooLate = CancellationScope.current().cancelRequested.catch(async (error: unknown) => {
    await CancellationScope.nonCancellable(() => sleep(stoppingMs));
    if (!isOver) giveUp();
    throw error;
  });
  return Promise.race([work, tooLate]);
}
