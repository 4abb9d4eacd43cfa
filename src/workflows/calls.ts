/** The calls of one model step. Each ends when the model's result is stored. */
import { executeChild } from '@temporalio/workflow';
import { modelStepMs } from '../turn/step.ts';
import type { DelegatedCall, QuestionCall, ServerCall, StepResult, ToolCall } from '../turn/step.ts';
import { askModelQuestion, callTool, failToolCall, finishDelegation } from './activities.ts';
import { untilFinished } from './attempts.ts';
import type { Agent } from './attempts.ts';
import { childId, childOptions, unlessEnded } from './children.ts';
import { runDurableCall } from './durable-calls.ts';
import { isGivenUp, maximumAttempts, retryUntilDatabaseAnswers, withGracePeriod } from './failures.ts';
import { agentTurnWorkflow } from './messages.ts';
import type { DelegationResult, TurnInput } from './messages.ts';
import { withNextStep } from './operator-view.ts';

/** What the activity of a call has done of the model step after it. */
export interface BegunStep {
  result?: StepResult;
  /** As many attempts as it can have made. */
  attempts: number;
}

export const notBegun: BegunStep = { attempts: 0 };

/** Runs the calls of a step. `next`: the model step that the activity of its only call goes on with. */
export async function runCalls(
  agent: Agent,
  calls: ToolCall[],
  next: number | undefined,
): Promise<BegunStep> {
  const running = calls.map((call) =>
    agent.view.whileRunning(call.toolCallId, () => runCall(agent, call, next)),
  );
  let begun = notBegun;
  for (const ended of await Promise.allSettled(running)) {
    if (ended.status === 'rejected') throw ended.reason;
    begun = ended.value ?? begun;
  }
  return begun;
}

/** Whether the activity of the step's only call can make the next step, too. */
export function goesOn([call, ...others]: ToolCall[]): boolean {
  return call?.kind === 'server' && others.length === 0;
}

function runCall(agent: Agent, call: ToolCall, next: number | undefined): Promise<BegunStep | void> {
  switch (call.kind) {
    case 'server':
      return runServerCall(agent, call, next);
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

async function runServerCall(
  agent: Agent,
  call: ServerCall,
  nextStep: number | undefined,
): Promise<BegunStep> {
  const { turn } = agent;
  const { toolCallId, toolName, server, tool } = call;
  const { toolCallMs } = turn.limits;
  const options =
    nextStep === undefined
      ? { summary: toolName, startToCloseTimeout: toolCallMs }
      : { summary: withNextStep(toolName, nextStep), startToCloseTimeout: toolCallMs + modelStepMs };
  let attempts = 0;
  try {
    const end = await untilFinished(agent, toolCallId, (before) =>
      retryUntilDatabaseAnswers((again) => {
        attempts = (again.repeats?.attempts ?? 0) + maximumAttempts;
        const step = nextStep !== undefined && { nextStep };
        const input = { turn, toolCallId, server, tool, ...step, ...before, ...again };
        return withGracePeriod(callTool.executeWithOptions(options, [input]), gracePeriod);
      }),
    );
    if (end.kind === 'finished' && end.next) return { result: end.next, attempts };
  } catch (error) {
    if (!isGivenUp(error)) throw error;
    const summary = `${toolName}: failed`;
    await failToolCall.executeWithOptions({ summary }, [{ turn, toolCallId, server }]);
  }
  return nextStep === undefined ? notBegun : { attempts };
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
