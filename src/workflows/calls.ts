/** The calls of one model step. Each ends when the model's result is stored. */
import { executeChild } from '@temporalio/workflow';
import type { DelegatedCall, QuestionCall, ServerCall, ToolCall } from '../turn/tool-call.ts';
import { askModelQuestion, callTool, failToolCall, finishDelegation } from './activities.ts';
import { untilFinished } from './attempts.ts';
import type { Agent } from './attempts.ts';
import { childId, childOptions, unlessEnded } from './children.ts';
import { runDurableCall } from './durable-calls.ts';
import { isGivenUp, retryUntilDatabaseAnswers, withGracePeriod } from './failures.ts';
import { agentTurnWorkflow } from './messages.ts';
import type { DelegationResult, TurnInput } from './messages.ts';

export function runCall(agent: Agent, call: ToolCall): Promise<void> {
  switch (call.kind) {
    case 'server':
      return runServerCall(agent, call);
    case 'question':
      return runModelQuestion(agent, call);
    case 'delegated':
      return runDelegatedCall(agent, call);
    case 'durable':
      return runDurableCall(agent, call);
    default:
      return call satisfies never;
  }
}

/**
 * Grace period of a cancelled attempt: its activity learns of it at once and writes how the call ended, unless its worker
 * has died. What the attempt writes after that is refused.
 */
const gracePeriod = '2s';

async function runServerCall(agent: Agent, call: ServerCall): Promise<void> {
  const { turn } = agent;
  const { toolCallId, toolName, server, tool } = call;
  const options = { summary: toolName, startToCloseTimeout: turn.limits.toolCallMs };
  try {
    await untilFinished(agent, toolCallId, (before) =>
      retryUntilDatabaseAnswers((again) => {
        const input = { turn, toolCallId, server, tool, ...before, ...again };
        return withGracePeriod(callTool.executeWithOptions(options, [input]), gracePeriod);
      }),
    );
  } catch (error) {
    if (!isGivenUp(error)) throw error;
    const summary = `${toolName}: failed`;
    await failToolCall.executeWithOptions({ summary }, [{ turn, toolCallId, server }]);
  }
}

/** The model itself asks the user, by the tool `ask_user`. */
async function runModelQuestion(agent: Agent, call: QuestionCall): Promise<void> {
  const { turn } = agent;
  const { toolCallId, toolName, perTurn } = call;
  const isAllowed = ++agent.modelQuestions <= perTurn;
  await untilFinished(agent, toolCallId, () =>
    askModelQuestion.executeWithOptions({ summary: toolName }, [{ turn, toolCallId, isAllowed }]),
  );
}

/** A task for another agent: this workflow as a child, whose last message is the result of the call. */
async function runDelegatedCall({ turn }: Agent, call: DelegatedCall): Promise<void> {
  const { toolCallId, agent, maxSteps } = call;
  const delegation = { toolCallId, path: [...(turn.delegation?.path ?? []), agent] };
  const input: TurnInput = { ...turn, agent, delegation, limits: { ...turn.limits, maxSteps } };
  const result = await unlessEnded<DelegationResult>(
    executeChild(agentTurnWorkflow, {
      ...childOptions(input),
      staticSummary: `${agent}, asked by ${turn.agent}, for ${turn.user ?? 'a service'}`,
      workflowId: childId('agent', toolCallId),
      args: [input],
    }),
  );
  const end = result ?? { status: 'failed' };
  const summary = `${agent}: ${end.failure?.code ?? end.status}`;
  await finishDelegation.executeWithOptions({ summary }, [{ turn, delegation, end }]);
}
