/**
 * The workflow of a turn: a model step, the tool calls it requested (which may ask a person), the next step, until the model
 * is done. A delegated agent runs the same workflow as a child; only the root agent's workflow ends the turn.
 */
import { allHandlersFinished, CancellationScope, condition } from '@temporalio/workflow';
import type { ModelCallResult } from '../turn/step.ts';
import type { TurnEnd } from '../turn/turn.ts';
import type { TurnFailure } from '../turn/turn-failure.ts';
import { announceEnd, callModel, endTurn } from './activities.ts';
import { goesOn, notBegun, runCalls } from './calls.ts';
import type { Agent } from './calls.ts';
import { attemptsBeforeReset, endOf, retryUntilWorkersKeepUp, untilCancelled } from './failures.ts';
import type { DelegationResult, TurnInput, TurnResult } from './messages.ts';
import { OperatorView } from './operator-view.ts';
import { Questions } from './questions.ts';

export async function agentTurn(turn: TurnInput): Promise<TurnResult | DelegationResult> {
  const view = new OperatorView();
  view.listenToHeldCalls();
  const questions = new Questions(turn.user, (ids) => view.settled(ids));
  const agent: Agent = { turn, questions, view, modelQuestions: 0 };
  const isRoot = turn.delegation === undefined;
  let isBegun = !isRoot;
  let hasEnded = false;
  let announced: Promise<void> | undefined;

  // At once on cancellation, before waiting for running calls, so that open questions close.
  CancellationScope.current().cancelRequested.catch(() => {
    if (isRoot) announced = CancellationScope.nonCancellable(() => announceEnd({ turn })).catch(ignore);
  });
  // A delegate that finds the turn over waits for the cancellation from the root agent.
  const end = await (isRoot ? runSteps() : runSteps().catch(untilCancelled)).catch(endOf);
  if (end === 'withdrawn') return { status: 'cancelled' };
  return CancellationScope.nonCancellable(() => finish(end));

  async function runSteps(): Promise<TurnEnd | 'withdrawn'> {
    const { maxSteps } = turn.limits;
    let begun = notBegun;
    for (let step = 0; step < maxSteps; step++) {
      const summary = `model step ${step + 1}`;
      view.showStep(summary);
      const result = begun.result ?? (await makeStep(step, summary, begun.attempts));
      if (result.finish === 'withdrawn') return 'withdrawn';
      isBegun = true;
      hasEnded = result.hasEnded === true;
      if (result.finish !== 'tool-calls') return { status: 'completed' };
      const next = goesOn(result.toolCalls) && step + 1 < maxSteps ? step + 1 : undefined;
      view.showCalls(summary, result.toolCalls, next);
      begun = await runCalls(agent, result.toolCalls, next);
    }
    return { status: 'failed', failure: tooManySteps(turn) };
  }

  function makeStep(step: number, summary: string, attemptsBefore: number): Promise<ModelCallResult> {
    const input = { turn, step, ...(attemptsBefore > 0 && { attemptsBefore }) };
    return retryUntilWorkersKeepUp(
      (again) => callModel.executeWithOptions({ summary }, [{ ...input, ...again }]),
      attemptsBeforeReset(turn),
    );
  }

  async function finish(end: TurnEnd): Promise<TurnResult | DelegationResult> {
    await announced;
    const result = isRoot && !hasEnded ? await writeEnd(end) : end;
    view.showEnd(result.status);
    await condition(allHandlersFinished);
    return result;
  }

  /** The result is the status in the turn's row, which something else may have ended before. */
  function writeEnd(end: TurnEnd): Promise<TurnResult> {
    const summary = end.failure ? `${end.status}: ${end.failure.code}` : end.status;
    return endTurn.executeWithOptions({ summary }, [{ turn, ...end, isBegun }]);
  }
}

function tooManySteps({ limits, delegation }: TurnInput): TurnFailure {
  return {
    code: 'MaxStepsReached',
    maxSteps: limits.maxSteps,
    ...(delegation && { isDelegated: true }),
  };
}

function ignore(): void {}
