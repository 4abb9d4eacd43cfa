/**
 * A turn: the model speaks, its tools run, a person is asked where one must be, until the model is done. The same
 * for a delegated agent, whose turn is part of another one: that one begins and ends in the log, and this one answers
 * to it.
 */
import { CancellationScope, allHandlersFinished, condition, isCancellation } from '@temporalio/workflow';
import { readToolCall } from '../turn/tool-call.ts';
import type { ToolCall } from '../turn/tool-call.ts';
import type { TurnEnd, TurnFailure } from '../turn/turn.ts';
import { announceEnd, callModel, endTurn } from './activities.ts';
import { createConnect } from './connect-account.ts';
import { createDelegates } from './delegates.ts';
import { createQuestions } from './elicit.ts';
import { failureOf, outlastingTheDatabase } from './failures.ts';
import { createHeldCalls } from './server-signals.ts';
import type { DelegationResult, TurnInput, TurnResult } from './messages.ts';
import { showCalls, showEnd, showThinking } from './operator-view.ts';
import { createPhase } from './phase.ts';
import { runToolCall } from './tool-call.ts';
import type { Asking } from './tool-call.ts';

export async function agentTurn(turn: TurnInput): Promise<TurnResult | DelegationResult> {
  const thinking = new CancellationScope();
  const refused = new Map(turn.refused);
  const questions = createQuestions(turn);
  const phase = createPhase(turn, { questions, delegates: () => delegates, thinking });
  const delegates = createDelegates(turn, { refused, changed: phase.changed, superseded: phase.leave });
  const besides: Promise<void>[] = [];
  const asking: Asking = {
    questions,
    connect: createConnect(questions, refused),
    held: createHeldCalls(),
    whileWaiting: phase.whileWaiting,
    beside: (work) => void besides.push(work),
  };
  let isBegun = turn.delegation !== undefined;
  let isEnding = false;

  thinking.cancelRequested.catch(() =>
    besides.push(CancellationScope.nonCancellable(announce).catch(() => undefined)),
  );
  const outcome = await thinking.run(think).catch(interruption);
  if (outcome === 'withdrawn') return { status: 'cancelled' };
  // Written down even while the turn is being cancelled: questions close, streams end.
  return CancellationScope.nonCancellable(() => end(outcome));

  async function think(): Promise<TurnEnd | 'withdrawn'> {
    for (let step = 0; step < turn.limits.maxSteps; step++) {
      const summary = `model step ${step + 1}`;
      showThinking(summary);
      const said = await outlastingTheDatabase(() =>
        callModel.executeWithOptions({ summary }, [{ turn, step }]),
      );
      if (said.finish === 'withdrawn') return 'withdrawn';
      isBegun = true;
      if (said.finish !== 'tool-calls') return { status: 'completed' };
      const calls = said.toolCalls.map(readToolCall);
      showCalls(summary, calls);
      const results = await Promise.allSettled(phase.during(calls, run));
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    }
    return { status: 'failed', failure: tooManySteps(turn) };
  }

  /** Before anything that stops is waited for: people see at once that nobody is asked any more, and so do servers. */
  async function announce(): Promise<void> {
    // A delegated agent that is stopped alone is not the end of the turn; one that makes room is.
    if (!turn.delegation || phase.hasLeft()) await announceEnd({ turn });
    if (!isEnding) await questions.outcomes.write();
  }

  function run(call: ToolCall): Promise<void> {
    switch (call.kind) {
      case 'server':
        return runToolCall(turn, call, asking);
      case 'delegated':
        return delegates.run(call);
      default:
        return call satisfies never;
    }
  }

  function interruption(error: unknown): TurnEnd {
    if (isCancellation(error)) return { status: phase.hasLeft() ? 'superseded' : 'cancelled' };
    return { status: 'failed', failure: failureOf(error) };
  }

  async function end(outcome: TurnEnd): Promise<TurnResult | DelegationResult> {
    const { status, failure } = outcome;
    isEnding = true;
    // What servers are still to be told is read before the end forgets it.
    await Promise.all(besides);
    const summary = failure ? `${status}: ${failure.code}` : status;
    // A delegated agent's turn is another agent's, which ends it.
    if (turn.delegation) await questions.outcomes.write();
    else
      await questions.outcomes.writtenBy((outcomes) =>
        endTurn.executeWithOptions({ summary }, [{ turn, ...outcome, outcomes, isBegun }]),
      );
    phase.ended();
    showEnd(status);
    await condition(allHandlersFinished);
    return turn.delegation ? { ...outcome, refused: [...refused] } : { status };
  }
}

function tooManySteps({ limits, delegation }: TurnInput): TurnFailure {
  const remedy = delegation ? '' : ' Ask it to go on.';
  return {
    code: 'MaxStepsReached',
    message: `The agent stopped after ${limits.maxSteps} steps without finishing.${remedy}`,
  };
}
