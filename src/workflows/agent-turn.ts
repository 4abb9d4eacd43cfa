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
import { createConnectAccount } from './connect-account.ts';
import { createDelegates } from './delegates.ts';
import { createElicit } from './elicit.ts';
import { failureOf, outlastingTheDatabase } from './failures.ts';
import type { DelegationResult, TurnInput, TurnResult } from './messages.ts';
import { showCalls, showEnd, showThinking } from './operator-view.ts';
import { createPhase } from './phase.ts';
import { createQuestions } from './questions.ts';
import { createServerSignals } from './server-signals.ts';
import { runToolCall } from './tool-call.ts';
import type { ToolCallParts } from './tool-call.ts';
import { createUnwrittenOutcomes } from './unwritten-outcomes.ts';

export async function agentTurn(turn: TurnInput): Promise<TurnResult | DelegationResult> {
  const { thinking, phase, refused, background, runCall, unwritten } = createAgent(turn);
  let isBegun = turn.delegation !== undefined;
  let isEnding = false;

  thinking.cancelRequested.catch(() =>
    background.push(CancellationScope.nonCancellable(announce).catch(() => undefined)),
  );
  const end = await thinking.run(think).catch(endOf);
  if (end === 'withdrawn') return { status: 'cancelled' };
  // Written down even while the turn is being cancelled: questions close, streams end.
  return CancellationScope.nonCancellable(() => finish(end));

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
      const results = await Promise.allSettled(phase.whileRunning(calls, runCall));
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    }
    return { status: 'failed', failure: tooManySteps(turn) };
  }

  /** Before anything that stops is waited for: people see at once that nobody is asked any more, and so do servers. */
  async function announce(): Promise<void> {
    // A delegated agent that is stopped alone is not the end of the turn; one that makes room is.
    if (!turn.delegation || phase.isSuperseded()) await announceEnd({ turn });
    if (!isEnding) await unwritten.write();
  }

  function endOf(error: unknown): TurnEnd {
    if (isCancellation(error)) return { status: phase.isSuperseded() ? 'superseded' : 'cancelled' };
    return { status: 'failed', failure: failureOf(error) };
  }

  async function finish(end: TurnEnd): Promise<TurnResult | DelegationResult> {
    const { status, failure } = end;
    isEnding = true;
    // Servers that are to be told are looked up before the end forgets them.
    await Promise.all(background);
    const summary = failure ? `${status}: ${failure.code}` : status;
    // A delegated agent's turn is another agent's, which ends it.
    if (turn.delegation) await unwritten.write();
    else
      await unwritten.writtenBy((outcomes) =>
        endTurn.executeWithOptions({ summary }, [{ turn, ...end, outcomes, isBegun }]),
      );
    phase.ended();
    showEnd(status);
    await condition(allHandlersFinished);
    return turn.delegation ? { ...end, refused: [...refused] } : { status };
  }
}

/** Everything that an agent at work consists of. */
function createAgent(turn: TurnInput) {
  const thinking = new CancellationScope();
  const refused = new Map(turn.refused);
  const background: Promise<void>[] = [];
  const unwritten = createUnwrittenOutcomes();
  const questions = createQuestions();
  const { elicit, areAllPending } = createElicit(turn, { questions, unwritten });
  const delegates = createDelegates(turn, refused);
  const phase = createPhase(turn, { thinking, delegates, pending: questions.pending, areAllPending });
  const parts: ToolCallParts = {
    questions,
    unwritten,
    elicit,
    connectAccount: createConnectAccount(elicit, refused),
    signals: createServerSignals(),
    whileAsking: phase.whileAsking,
    inBackground: (work) => void background.push(work),
  };

  function runCall(call: ToolCall): Promise<void> {
    switch (call.kind) {
      case 'server':
        return runToolCall(turn, call, parts);
      case 'delegated':
        return delegates.run(call);
      default:
        return call satisfies never;
    }
  }

  return { thinking, phase, refused, background, runCall, unwritten };
}

function tooManySteps({ limits, delegation }: TurnInput): TurnFailure {
  const remedy = delegation ? '' : ' Ask it to go on.';
  return {
    code: 'MaxStepsReached',
    message: `The agent stopped after ${limits.maxSteps} steps without finishing.${remedy}`,
  };
}
