/**
 * The workflow of a turn: a model step, the tool calls it asked for (which may ask a person), the next step, until the
 * model is done. A delegated agent runs the same workflow as a child; only the root turn writes `turn-started` and
 * `turn-ended` to the log.
 */
import { CancellationScope, allHandlersFinished, condition, isCancellation } from '@temporalio/workflow';
import { readToolCall } from '../turn/tool-call.ts';
import type { ToolCall } from '../turn/tool-call.ts';
import type { TurnEnd, TurnFailure } from '../turn/turn.ts';
import { announceEnd, callModel, endTurn } from './activities.ts';
import { createConnectAccount } from './connect-account.ts';
import { Children } from './children.ts';
import { runDelegatedCall } from './delegated-calls.ts';
import { runDurableCall } from './durable-approval.ts';
import { createElicit } from './elicit.ts';
import { failureOf, retryUntilDatabaseAnswers } from './failures.ts';
import type { DelegationResult, TurnInput, TurnResult } from './messages.ts';
import { showCalls, showEnd, showModelStep } from './operator-view.ts';
import { createAskModelQuestion } from './model-question.ts';
import { Phase } from './phase.ts';
import { createQuestions } from './questions.ts';
import { createServerSignals } from './server-signals.ts';
import { SharedAccounts } from './shared-accounts.ts';
import { runToolCall } from './tool-call.ts';
import type { ToolCallParts } from './tool-call.ts';
import { createUnwrittenOutcomes } from './unwritten-outcomes.ts';

export async function agentTurn(turn: TurnInput): Promise<TurnResult | DelegationResult> {
  const { scope, phase, refused, background, runCall, unwritten } = createAgent(turn);
  let isBegun = turn.delegation !== undefined;
  let isEnding = false;

  scope.cancelRequested.catch(() =>
    background.push(CancellationScope.nonCancellable(announce).catch(() => undefined)),
  );
  const end = await scope.run(runSteps).catch(endOf);
  if (end === 'withdrawn') return { status: 'cancelled' };
  // Also when the turn is cancelled: its questions are closed and its streams ended.
  return CancellationScope.nonCancellable(() => finish(end));

  async function runSteps(): Promise<TurnEnd | 'withdrawn'> {
    for (let step = 0; step < turn.limits.maxSteps; step++) {
      const summary = `model step ${step + 1}`;
      showModelStep(summary);
      const result = await retryUntilDatabaseAnswers((again) =>
        callModel.executeWithOptions({ summary }, [{ turn, step, ...again }]),
      );
      if (result.finish === 'withdrawn') return 'withdrawn';
      isBegun = true;
      if (result.finish !== 'tool-calls') return { status: 'completed' };
      const calls = result.toolCalls.map(readToolCall);
      showCalls(summary, calls);
      const ends = await Promise.allSettled(phase.whileRunning(calls, runCall));
      for (const callEnd of ends) if (callEnd.status === 'rejected') throw callEnd.reason;
    }
    return { status: 'failed', failure: tooManySteps(turn) };
  }

  /** Called as soon as cancellation is requested, before running calls are waited for: open questions close at once. */
  async function announce(): Promise<void> {
    // Cancelling one delegated agent does not end the whole turn; superseding one that ends by itself does.
    if (!turn.delegation || (phase.isSuperseded() && !turn.supersededByParent)) await announceEnd({ turn });
    if (!isEnding) await unwritten.write();
  }

  function endOf(error: unknown): TurnEnd {
    if (isCancellation(error)) return { status: phase.isSuperseded() ? 'superseded' : 'cancelled' };
    return { status: 'failed', failure: failureOf(error) };
  }

  async function finish(end: TurnEnd): Promise<TurnResult | DelegationResult> {
    const { status, failure } = end;
    isEnding = true;
    // Before `endTurn`: notifying a server of an abandoned call needs rows that `endTurn` deletes.
    await Promise.all(background);
    const summary = failure ? `${status}: ${failure.code}` : status;
    // Only the root agent ends the turn.
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

/** The parts of one running agent, wired to each other. */
function createAgent(turn: TurnInput) {
  /** Cancelled when the agent is to stop: covers its model steps and tool calls, not what is written at the end. */
  const scope = new CancellationScope();
  const refused = new Map(turn.refused);
  const background: Promise<void>[] = [];
  const unwritten = createUnwrittenOutcomes();
  const questions = createQuestions();
  const { elicit, areAllPending } = createElicit(turn, { questions, unwritten });
  const accounts = new SharedAccounts(turn, {
    refused,
    isDelegate: (toolCallId) => children.isAgent(toolCallId),
    tellDelegate: (toolCallId, verdict) => children.tell(toolCallId, verdict),
    onLateQuestion: () => phase.showQuestions(),
  });
  const children = new Children();
  const reportAs = turn.delegation?.toolCallId;
  const phase = new Phase(turn, {
    scope,
    children,
    reportAs,
    pending: questions.pending,
    heldAnswers: questions.held,
    areAllPending,
  });
  const parts: ToolCallParts = {
    questions,
    unwritten,
    elicit,
    connectAccount: createConnectAccount(elicit, accounts),
    signals: createServerSignals(),
    whileAsking: (toolCallId, ask) => phase.whileAsking(toolCallId, ask),
    inBackground: (work) => void background.push(work),
  };

  const askModelQuestion = createAskModelQuestion(turn, parts);

  function runCall(call: ToolCall): Promise<void> {
    switch (call.kind) {
      case 'server':
        return runToolCall(turn, call, parts);
      case 'question':
        return askModelQuestion(call);
      case 'delegated':
        return runDelegatedCall(turn, call, {
          children,
          refused,
          onEnd: (toolCallId) => accounts.forget(toolCallId),
        });
      case 'durable':
        return runDurableCall(turn, call, { ...parts, children });
      default:
        return call satisfies never;
    }
  }

  return { scope, phase, refused, background, runCall, unwritten };
}

function tooManySteps({ limits, delegation }: TurnInput): TurnFailure {
  const remedy = delegation ? '' : ' Ask it to go on.';
  return {
    code: 'MaxStepsReached',
    message: `The agent stopped after ${limits.maxSteps} steps without finishing.${remedy}`,
  };
}
