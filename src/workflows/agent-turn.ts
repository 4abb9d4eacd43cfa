/** A turn: the model speaks, its tools run, a person is asked where one must be, until the model is done. */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  allHandlersFinished,
  condition,
  isCancellation,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { Elicitation } from '../elicitation/lifecycle.ts';
import type { TurnEndStatus } from '../turn/turn.ts';
import type { TurnFailure } from '../activities/turns.ts';
import { beginTurn, callModel, endTurn } from './activities.ts';
import { createConnect } from './connect.ts';
import type { Connect } from './connect.ts';
import { createQuestions } from './elicit.ts';
import type { Asked } from './elicit.ts';
import { searchAttributes, supersede, turnQuery } from './messages.ts';
import type { TurnInput, TurnReport, TurnResult } from './messages.ts';
import { runToolCall } from './tool-call.ts';
import type { Asking } from './tool-call.ts';

export async function agentTurn(turn: TurnInput): Promise<TurnResult> {
  let step = 0;
  let running = 0;
  let waiting = 0;
  let status: 'working' | 'waiting' | TurnEndStatus = 'working';
  const questions = createQuestions(turn);
  const connect = createConnect(questions);
  const asking: Asking = { connect: ask, writeOutcomes: questions.writeOutcomes };
  const thinking = new CancellationScope();
  let isSuperseded = false;
  setHandler(turnQuery, (): TurnReport => ({ turnId: turn.turnId, phase: phase() }));
  setHandler(supersede, (message: { until?: number } | undefined) => {
    // An answer that has just come, though nothing has been made of it yet, counts more than a new message.
    if (status !== 'waiting' || !questions.areAllOpen() || Date.now() > (message?.until ?? 0)) return;
    isSuperseded = true;
    thinking.cancel();
  });

  // Withdrawn: the API could not tell its client that the turn runs, so it does not.
  const begun = await CancellationScope.nonCancellable(() => beginTurn({ turn }));
  if (!begun) return { status: 'cancelled' };
  try {
    await thinking.run(think);
    return await end('completed');
  } catch (error) {
    if (isCancellation(error)) return await end(isSuperseded ? 'superseded' : 'cancelled');
    return await end('failed', failureOf(error));
  }

  async function think(): Promise<void> {
    for (; step < turn.limits.maxSteps; step++) {
      const summary = `model step ${step + 1}`;
      setCurrentDetails(`${summary}: thinking`);
      const { finish, toolCalls } = await callModel.executeWithOptions({ summary }, [{ turn, step }]);
      if (finish !== 'tool-calls') return;
      setCurrentDetails(`${summary}: ${toolCalls.map(({ toolName }) => toolName).join(', ')}`);
      running = toolCalls.length;
      const results = await Promise.allSettled(
        toolCalls.map((call) => runToolCall(turn, call, asking).finally(done)),
      );
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    }
    throw ApplicationFailure.nonRetryable(
      `The agent stopped after ${turn.limits.maxSteps} steps without finishing. Ask it to go on.`,
      'MaxStepsReached',
    );
  }

  function phase(): TurnReport['phase'] {
    if (status !== 'working' && status !== 'waiting') return 'ended';
    return isSuperseded ? 'ending' : status;
  }

  /** Connects, and lets operators see that the turn is waiting for a person once nothing else is going on. */
  async function ask(...need: Parameters<Connect>): Promise<Asked> {
    const answer = connect(...need);
    waiting++;
    report();
    try {
      return await answer;
    } finally {
      waiting--;
      report();
    }
  }

  function done(): void {
    running--;
    report();
  }

  function report(): void {
    const next = waiting > 0 && waiting === running ? 'waiting' : 'working';
    if (next === status) return;
    status = next;
    const open = questions.open();
    setCurrentDetails(next === 'waiting' ? open.map(describe).join('\n') : 'working');
    upsertSearchAttributes([
      { key: searchAttributes.status, value: next === 'waiting' ? 'waiting_input' : 'running' },
      { key: searchAttributes.waitingFor, value: open[0]?.connection?.server ?? null },
    ]);
  }

  /** Writes the end down even while the turn is being cancelled: questions close, streams end. */
  function end(outcome: TurnEndStatus, failure?: TurnFailure): Promise<TurnResult> {
    return CancellationScope.nonCancellable(async () => {
      await questions.settled();
      const summary = failure ? `${outcome}: ${failure.code}` : outcome;
      await endTurn.executeWithOptions({ summary }, [{ turn, status: outcome, ...(failure && { failure }) }]);
      status = outcome;
      setCurrentDetails(outcome);
      upsertSearchAttributes([{ key: searchAttributes.status, value: outcome }]);
      await condition(allHandlersFinished);
      return { status: outcome };
    });
  }
}

/** One line for an operator who looks at a waiting turn. */
function describe({ id, connection, deadline }: Elicitation): string {
  const until = new Date(deadline).toISOString();
  return `- waiting for the user to connect **${connection?.server}**, until ${until} (question \`${id}\`)`;
}

/** Activities throw failures whose message is made for people; anything else stays unnamed. */
function failureOf(error: unknown): TurnFailure {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && cause.type) return { code: cause.type, message: cause.message };
  return {
    code: 'TurnFailed',
    message: 'Something went wrong on our side, and the answer could not be finished.',
  };
}
