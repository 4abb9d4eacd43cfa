/**
 * A turn: the model speaks, its tools run, a person is asked where one must be, until the model is done. The same
 * for a delegated agent, whose turn is part of another one: that one begins and ends in the log, and this one answers
 * to it.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  allHandlersFinished,
  condition,
  isCancellation,
  setHandler,
} from '@temporalio/workflow';
import type { TurnEndStatus } from '../turn/turn.ts';
import type { DelegatedCall, ServerCall } from '../activities/keep-step.ts';
import type { TurnFailure } from '../activities/turns.ts';
import { announceEnd, beginTurn, callModel, endTurn } from './activities.ts';
import { callerOf } from './caller.ts';
import { createConnect } from './connect.ts';
import { createDelegates } from './delegates.ts';
import { createQuestions } from './elicit.ts';
import { createHeldCalls } from './held-calls.ts';
import { supersede, turnQuery } from './messages.ts';
import type { DelegationResult, TurnInput, TurnReport, TurnResult } from './messages.ts';
import { readSupersede } from './read-signal.ts';
import { showCalls, showEnd, showPhase, showThinking } from './operator-view.ts';
import { runToolCall } from './tool-call.ts';
import type { Asking } from './tool-call.ts';

export async function agentTurn(turn: TurnInput): Promise<TurnResult | DelegationResult> {
  let step = 0;
  let running = 0;
  /** Calls that wait for a person, and how many questions each has open. */
  const waiting = new Map<string, number>();
  let status: 'working' | 'waiting' | TurnEndStatus = 'working';
  let leaving: 'no' | 'perhaps' | 'yes' = 'no';
  const refused = new Map(turn.refused);
  const questions = createQuestions(turn);
  const connect = createConnect(questions, refused);
  const delegates = createDelegates(turn, { refused, changed: report, superseded: leave });
  const caller = callerOf(turn);
  const held = createHeldCalls();
  const besides: Promise<void>[] = [];
  const asking: Asking = {
    questions,
    connect,
    held,
    whileWaiting,
    beside: (work) => void besides.push(work),
  };
  const thinking = new CancellationScope();
  setHandler(turnQuery, (): TurnReport => ({ turnId: turn.turnId, phase: phase() }));
  setHandler(supersede, (message: unknown) => {
    const { until } = readSupersede(message) ?? { until: 0 };
    // An answer that has just come, though nothing has been made of it yet, counts more than a new message.
    if (status !== 'waiting' || !questions.areAllOpen() || Date.now() > until) return;
    // Of an answer that a delegated agent has just been given, only that agent knows.
    if (delegates.supersede(until)) leaving = 'perhaps';
    else leave();
  });

  // Withdrawn: the API could not tell its client that the turn runs, so it does not.
  const begun = turn.delegation || (await CancellationScope.nonCancellable(() => beginTurn({ turn })));
  if (!begun) return { status: 'cancelled' };
  thinking.cancelRequested.catch(() =>
    besides.push(CancellationScope.nonCancellable(announce).catch(() => undefined)),
  );
  try {
    await thinking.run(think);
    return await end('completed');
  } catch (error) {
    if (isCancellation(error)) return await end(hasLeft() ? 'superseded' : 'cancelled');
    return await end('failed', failureOf(error));
  }

  async function think(): Promise<void> {
    for (; step < turn.limits.maxSteps; step++) {
      const summary = `model step ${step + 1}`;
      showThinking(summary);
      const { finish, toolCalls } = await callModel.executeWithOptions({ summary }, [{ turn, step }]);
      if (finish !== 'tool-calls') return;
      showCalls(summary, toolCalls);
      running = toolCalls.length;
      const results = await Promise.allSettled(toolCalls.map((call) => run(call).finally(done)));
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    }
    const remedy = turn.delegation ? '' : ' Ask it to go on.';
    throw ApplicationFailure.nonRetryable(
      `The agent stopped after ${turn.limits.maxSteps} steps without finishing.${remedy}`,
      'MaxStepsReached',
    );
  }

  /** Before anything that stops is waited for: people see at once that nobody is asked any more, and so do servers. */
  async function announce(): Promise<void> {
    // A delegated agent that is stopped alone is not the end of the turn; one that makes room is.
    if (!turn.delegation || hasLeft()) await announceEnd({ turn });
    questions.writeOutcomes();
  }

  function run(call: ServerCall | DelegatedCall): Promise<void> {
    return 'agent' in call ? delegates.run(call) : runToolCall(turn, call, asking);
  }

  function leave(): void {
    leaving = 'yes';
    thinking.cancel();
  }

  function hasLeft(): boolean {
    return leaving === 'yes';
  }

  function phase(): TurnReport['phase'] {
    if (status !== 'working' && status !== 'waiting') return 'ended';
    return leaving === 'no' ? status : 'ending';
  }

  /** Asks, and lets operators see that the turn is waiting for a person once nothing else is going on. */
  async function whileWaiting<T>(toolCallId: string, ask: () => Promise<T>): Promise<T> {
    waiting.set(toolCallId, (waiting.get(toolCallId) ?? 0) + 1);
    try {
      // Before the user sees the question, and could send a new message instead of answering it.
      if (caller && isWaiting()) await caller.tell('waiting');
      if (thinking.consideredCancelled) throw new CancelledFailure('The turn ends, so nobody is asked.');
      const answer = ask();
      report();
      return await answer;
    } finally {
      const left = (waiting.get(toolCallId) ?? 1) - 1;
      if (left > 0) waiting.set(toolCallId, left);
      else waiting.delete(toolCallId);
      report();
    }
  }

  function done(): void {
    running--;
    report();
  }

  function isWaiting(): boolean {
    return running > 0 && waiting.size + delegates.waiting().length === running;
  }

  function report(): void {
    const next = isWaiting() ? 'waiting' : 'working';
    if (next === status) return;
    status = next;
    // Whoever was asked to make room has refused: it has work to do.
    if (next === 'working' && leaving === 'perhaps') leaving = 'no';
    void caller?.tell(next);
    showPhase(next, questions.open(), delegates.waiting());
  }

  /** Writes the end down even while the turn is being cancelled: questions close, streams end. */
  function end(outcome: TurnEndStatus, failure?: TurnFailure): Promise<TurnResult | DelegationResult> {
    return CancellationScope.nonCancellable(async () => {
      await questions.settled();
      const summary = failure ? `${outcome}: ${failure.code}` : outcome;
      const why = failure && { failure };
      if (!turn.delegation)
        await endTurn.executeWithOptions({ summary }, [{ turn, status: outcome, ...why }]);
      status = outcome;
      showEnd(outcome);
      await Promise.all(besides);
      await condition(allHandlersFinished);
      return turn.delegation ? { status: outcome, ...why, refused: [...refused] } : { status: outcome };
    });
  }
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
