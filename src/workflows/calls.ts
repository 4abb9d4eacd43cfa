/**
 * The tool calls of one model step. A call is a series of attempts, each of which is an activity, until one of them has
 * stored a result for the model. Between attempts the call waits for people, whose answers the next attempt reads, or for a
 * server that wants to be called later. Delegated agents and tools in TypeScript that may ask are child workflows; they are
 * cancelled with their agent and end before it.
 */
import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/common';
import {
  CancellationScope,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  executeChild,
  ParentClosePolicy,
  sleep,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import type { ChildWorkflowOptions } from '@temporalio/workflow';
import { modelStepMs } from '../turn/step.ts';
import type {
  AttemptResult,
  DelegatedCall,
  DurableCall,
  DurableCallPermit,
  FinishedCall,
  GivenApproval,
  QuestionCall,
  Repetition,
  ServerCall,
  StepResult,
  ToolCall,
} from '../turn/step.ts';
import {
  askModelQuestion,
  callTool,
  executeTool,
  failToolCall,
  finishDelegation,
  finishLostTool,
  permitDurableCall,
  unclaimedAfter,
  withdrawUnbegunTool,
} from './activities.ts';
import {
  attemptsBeforeReset,
  isGivenUp,
  maximumAttempts,
  retryUntilDatabaseAnswers,
  retryUntilWorkersKeepUp,
  withGracePeriod,
} from './failures.ts';
import {
  agentTurnWorkflow,
  durableToolWorkflow,
  searchAttributes,
  taskTimeouts,
  toolQueueName,
} from './messages.ts';
import type { DelegationResult, DurableToolEnd, DurableToolInput, TurnInput } from './messages.ts';
import { withNextStep } from './operator-view.ts';
import type { OperatorView } from './operator-view.ts';
import type { Questions } from './questions.ts';

/** The running agent that the calls belong to. */
export interface Agent {
  readonly turn: TurnInput;
  readonly questions: Questions;
  readonly view: OperatorView;
  /** How often its model has called `ask_user`. */
  modelQuestions: number;
}

/** What the activity of a call did of the model step after it. */
interface BegunStep {
  result?: StepResult;
  /** The most attempts that it can have made. */
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

/** What an attempt must know of earlier ones. */
interface Before {
  execution: number;
  approval?: GivenApproval;
}

/** Exponential backoff for a server that asks nothing and wants to be called again later. */
const firstPauseMs = 250;
const longestPauseMs = 30_000;

async function untilFinished(
  { turn, questions, view }: Agent,
  toolCallId: string,
  attempt: (before: Before) => Promise<AttemptResult | DurableCallPermit>,
): Promise<FinishedCall | { kind: 'permitted' }> {
  let before: Before = { execution: 0 };
  for (let pauses = 0; ;) {
    const since = questions.now();
    const execution = before.execution + attemptsBeforeReset(turn);
    const result = await attempt({ ...before, execution });
    view.attemptEnded(toolCallId);
    before = { ...before, execution: before.execution + 1 };
    switch (result.kind) {
      case 'finished':
      case 'permitted':
        return result;
      case 'later':
        await sleep(Math.min(firstPauseMs * 2 ** pauses++, longestPauseMs));
        break;
      case 'asks': {
        const { questions: asked, approval } = result;
        if (approval) before = { ...before, approval };
        await view.whileAsking(toolCallId, asked, () => questions.wait(asked, since));
        break;
      }
      default:
        return result satisfies never;
    }
  }
}

/**
 * Grace period of a cancelled attempt: its activity is notified at once and writes how the call ended, unless its worker has
 * died. Later writes of the attempt are refused.
 */
const gracePeriod = '3s';

/** Time to read and write the row of a call, before and after its tool has run. */
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

/** `server`: as for `failToolCall`. The result matters for a call whose activity goes on with the next step. */
async function untilFinishedOrGivenUp(
  agent: Agent,
  { toolCallId, toolName }: ToolCall,
  server: string | null,
  attempt: (before: Before, again: Repetition) => Promise<AttemptResult>,
): Promise<BegunStep> {
  let attempts = 0;
  // While a server waits for a person, each outage of Temporal takes an attempt. Code of tools may itself be what ends workers.
  const retry = server === null ? retryUntilDatabaseAnswers : retryUntilWorkersKeepUp;
  try {
    const end = await untilFinished(agent, toolCallId, (before) =>
      retry((again) => {
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

/** The model asks the user with the tool `ask_user`, or calls a tool of the front end. */
async function runModelQuestion(agent: Agent, call: QuestionCall): Promise<void> {
  const { turn } = agent;
  const { toolCallId, toolName, perTurn, isFrontend } = call;
  const isAllowed = isFrontend === true || ++agent.modelQuestions <= perTurn;
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

/** Grace period of a cancelled tool, whose worker may have died. */
const toolGracePeriod = '8s';

/**
 * A tool in TypeScript that may ask: a workflow of its own, run by workers that have the code that the call began with. Such
 * a worker may disappear, or never start. If a person has to approve the call, the tool starts after that.
 */
async function runDurableCall(agent: Agent, call: DurableCall): Promise<void> {
  const { turn } = agent;
  const { toolCallId, toolName } = call;
  let given: GivenApproval | undefined;
  if (call.approval) {
    const summary = `${toolName}: approved?`;
    const permit = await untilFinished(agent, toolCallId, ({ approval }) => {
      given = approval;
      const input = { turn, toolCallId, ...(approval && { approval }) };
      return permitDurableCall.executeWithOptions({ summary }, [input]);
    });
    if (permit.kind === 'finished') return;
  }
  if ((await unlessEnded(runTool(turn, call, given))) !== null) return;
  const summary = `${toolName}: ended from outside`;
  await finishLostTool.executeWithOptions({ summary }, [{ turn, toolCallId }]);
}

async function runTool(
  turn: TurnInput,
  call: DurableCall,
  approval: GivenApproval | undefined,
): Promise<DurableToolEnd> {
  const { toolCallId, toolName, bundle } = call;
  const input: DurableToolInput = { turn, toolCallId, toolName, ...(approval && { approval }) };
  const tool = await startChild(durableToolWorkflow, {
    ...childOptions(turn),
    memo: { turnId: turn.turnId, toolName },
    staticSummary: `${toolName}, called by ${turn.agent}, for ${turn.user ?? 'a service'}`,
    workflowId: childId('tool', toolCallId),
    taskQueue: toolQueueName(workflowInfo().taskQueue, bundle),
    args: [input],
  });
  return whileClaimed(turn, call, tool.result());
}

/** Waits for the tool's end. If no worker begins to run the tool, the call is withdrawn. */
async function whileClaimed(
  turn: TurnInput,
  { toolCallId, toolName }: DurableCall,
  result: Promise<DurableToolEnd>,
): Promise<DurableToolEnd> {
  // Cancelling the call does not cancel the watch: the tool itself reports how it ended.
  const watch = new CancellationScope({
    cancellable: true,
    parent: new CancellationScope({ cancellable: false }),
  });
  const withdrawn = watch.run(async () => {
    await sleep(unclaimedAfter, { summary: `${toolName}: does a worker run it?` });
    const isUnbegun = await withdrawUnbegunTool({ turn, toolCallId });
    // If withdrawn, the model has its result; a worker that runs the tool later finds the call finished.
    return isUnbegun ? ({ status: 'finished' } as const) : result;
  });
  withdrawn.catch(() => undefined);
  try {
    return await withGracePeriod(Promise.race([result, withdrawn]), toolGracePeriod);
  } finally {
    watch.cancel();
  }
}

function childId(kind: 'agent' | 'tool', toolCallId: string): string {
  return `${workflowInfo().workflowId}/${kind}/${toolCallId}`;
}

/** The parameter names the agent, user and conversation that operators see. */
function childOptions({ turnId, conversation, agent, user }: TurnInput): ChildWorkflowOptions {
  const { executionTimeoutMs } = workflowInfo();
  return {
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    // It only runs if the parent was reset, and its earlier run started it: the new child goes on from the same rows.
    workflowIdReusePolicy: WorkflowIdReusePolicy.TERMINATE_IF_RUNNING,
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    // The child starts later than the turn, so that the turn's own time runs out first.
    ...(executionTimeoutMs !== undefined && { workflowExecutionTimeout: executionTimeoutMs }),
    workflowTaskTimeout: taskTimeouts.workflowTask,
    memo: { turnId },
    typedSearchAttributes: [
      { key: searchAttributes.agent, value: agent },
      { key: searchAttributes.conversation, value: conversation },
      ...(user === null ? [] : [{ key: searchAttributes.user, value: user }]),
      { key: searchAttributes.rootTurn, value: turnId },
    ],
    staticDetails: `Part of turn \`${turnId}\` of conversation \`${conversation}\``,
  };
}

/** What a child returns; null if an operator ended it from outside. */
async function unlessEnded<T>(child: Promise<T>): Promise<T | null> {
  try {
    return await child;
  } catch (error) {
    const isEnded =
      error instanceof ChildWorkflowFailure || error instanceof WorkflowExecutionAlreadyStartedError;
    if (isEnded && !CancellationScope.current().consideredCancelled) return null;
    throw error;
  }
}
