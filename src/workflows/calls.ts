/** The calls of one model step. Each ends when the model's result is stored. */
import { executeChild, workflowInfo } from '@temporalio/workflow';
import type { Repetition } from '../turn/repetition.ts';
import { modelStepMs } from '../turn/step.ts';
import type {
  DelegatedCall,
  DurableCall,
  QuestionCall,
  ServerCall,
  StepResult,
  ToolCall,
} from '../turn/step.ts';
import type { AttemptResult } from '../turn/tool-call.ts';
import { askModelQuestion, callTool, executeTool, failToolCall, finishDelegation } from './activities.ts';
import { untilFinished } from './attempts.ts';
import type { Agent, Before } from './attempts.ts';
import { childId, childOptions, unlessEnded } from './children.ts';
import { runDurableCall } from './durable-calls.ts';
import {
  attemptsBeforeReset,
  isGivenUp,
  maximumAttempts,
  retryUntilDatabaseAnswers,
  withGracePeriod,
} from './failures.ts';
import { agentTurnWorkflow, toolQueueName } from './messages.ts';
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
      return call.executeMs === undefined
        ? runDurableCall(agent, call)
        : runPlainCall(agent, { ...call, executeMs: call.executeMs });
    default:
      return call satisfies never;
  }
}

/**
 * Grace period of a cancelled attempt: its activity learns of it at once and writes how the call ended, unless its worker
 * has died. What the attempt writes after that is refused.
 */
const gracePeriod = '3s';

/** For the row of a call, before and after its tool has run. */
const marginMs = 15_000;

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
  const fixed = { turn, toolCallId, server, tool, ...(nextStep !== undefined && { nextStep }) };
  const begun = await untilFinishedOrGivenUp(agent, call, server, (before, again) =>
    callTool.executeWithOptions(options, [{ ...fixed, ...before, ...again }]),
  );
  return nextStep === undefined ? notBegun : begun;
}

/** A tool in TypeScript that asks nothing: workers that have the code of its folder run it. */
async function runPlainCall(agent: Agent, call: DurableCall & { executeMs: number }): Promise<void> {
  const { turn } = agent;
  const { toolCallId, toolName, bundle, approval, executeMs } = call;
  const options = {
    summary: toolName,
    taskQueue: toolQueueName(workflowInfo().taskQueue, bundle),
    startToCloseTimeout: executeMs + marginMs,
  };
  const fixed = { turn, toolCallId, ...(approval && { needsApproval: approval }) };
  await untilFinishedOrGivenUp(agent, call, null, (before, again) =>
    executeTool.executeWithOptions(options, [{ ...fixed, ...before, ...again }]),
  );
}

/** `server`: as `failToolCall` takes it. The result is for a call whose activity goes on with the next step. */
async function untilFinishedOrGivenUp(
  agent: Agent,
  { toolCallId, toolName }: Pick<ToolCall, 'toolCallId' | 'toolName'>,
  server: string | null,
  attempt: (before: Before, again: Repetition) => Promise<AttemptResult>,
): Promise<BegunStep> {
  let attempts = 0;
  try {
    const end = await untilFinished(agent, toolCallId, (before) =>
      retryUntilDatabaseAnswers((again) => {
        attempts = (again.repeats?.attempts ?? 0) + maximumAttempts;
        return withGracePeriod(attempt(before, again), gracePeriod);
      }, attemptsBeforeReset(agent.turn)),
    );
    if (end.kind === 'finished' && end.next) return { result: end.next, attempts };
  } catch (error) {
    if (!isGivenUp(error)) throw error;
    const summary = `${toolName}: failed`;
    await failToolCall.executeWithOptions({ summary }, [{ turn: agent.turn, toolCallId, server }]);
  }
  return { attempts };
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
  const attemptsBefore = attemptsBeforeReset(turn);
  const input: TurnInput = {
    ...turn,
    agent,
    delegation,
    limits: { ...turn.limits, maxSteps },
    ...(attemptsBefore > 0 && { attemptsBefore }),
  };
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
