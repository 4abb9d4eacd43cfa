/**
 * The children of this agent: delegated agents, and tools in TypeScript. Each runs as a child workflow, is cancelled with
 * its parent, and is awaited like a tool call. It reports by signal whether it works or only waits for a person.
 */
import {
  CancellationScope,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  ParentClosePolicy,
  setHandler,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { ChildWorkflowHandle, ChildWorkflowOptions, Workflow, WorkflowInfo } from '@temporalio/workflow';
import type { AskResult } from '../turn/ask.ts';
import type { DelegatedCall, DurableCall, GivenApproval } from '../turn/tool-call.ts';
import type { Delegation, TurnEnd } from '../turn/turn.ts';
import { finishDelegation } from './activities.ts';
import { endLostTool, followDurableTool } from './durable-calls.ts';
import {
  accountVerdict,
  agentTurnWorkflow,
  delegatePhase,
  durableToolWorkflow,
  searchAttributes,
  supersede,
} from './messages.ts';
import type {
  AccountVerdict,
  DelegatePhase,
  DelegationResult,
  DurableToolEnd,
  TurnInput,
} from './messages.ts';
import { readDelegatePhase } from './read-signal.ts';
import { toolQueueName } from './tool-queue.ts';

export interface Delegates {
  /** Runs the delegated agent to its end and stores the result for the model that asked. */
  run(call: DelegatedCall): Promise<void>;
  /** Runs a tool in TypeScript to its end. */
  runTool(call: DurableCall, approval?: GivenApproval): Promise<void>;
  /** The names of those that only wait for a person. */
  waiting(): string[];
  /** Tells the delegate that is this call what became of the account that it wants; nothing if it has ended. */
  tell(toolCallId: string, verdict: AccountVerdict): void;
  /** Signals them to end if they only wait for a person; false when no delegate is running. */
  supersede(until: number): boolean;
  /** Sets the one listener. To be called once. */
  listen(listener: DelegatesListener): void;
}

export interface DelegatesListener {
  /** A delegate has changed between `working` and `waiting`. */
  onPhase(): void;
  /** A delegate has ended because a new message supersedes the turn. */
  onSuperseded(): void;
}

interface Delegate {
  /** Of the agent, or of the tool. */
  name: string;
  phase: DelegatePhase['phase'];
  handle: ChildWorkflowHandle<Workflow>;
}

interface Parts {
  /** For which servers the user has declined to connect an account. Delegates start with it and add to it. */
  refused: Map<string, AskResult>;
  /** A delegated agent has ended, and what it added to `refused` is there. */
  onEnd(toolCallId: string): void;
}

export function createDelegates(turn: TurnInput, { refused, onEnd }: Parts): Delegates {
  const delegates = new Map<string, Delegate>();
  let listener: DelegatesListener | undefined;

  setHandler(delegatePhase, (message: unknown) => {
    const report = readDelegatePhase(message);
    const delegate = report && delegates.get(report.toolCallId);
    if (!delegate) return;
    delegate.phase = report.phase;
    listener?.onPhase();
  });

  async function run({ toolCallId, agent, maxSteps }: DelegatedCall): Promise<void> {
    const delegation = { toolCallId, path: [...(turn.delegation?.path ?? []), agent] };
    const limits = { ...turn.limits, maxSteps };
    const input = {
      ...turn,
      agent,
      delegation,
      limits,
      refused: [...refused],
      asksThroughParent: true as const,
    };
    const end = await runAgent(input, delegation).finally(() => onEnd(toolCallId));
    if (end.status === 'superseded') listener?.onSuperseded();
    const summary = `${agent}: ${end.failure?.code ?? end.status}`;
    await finishDelegation.executeWithOptions({ summary }, [{ turn, delegation, end }]);
  }

  async function runAgent(input: TurnInput, { toolCallId }: Delegation): Promise<TurnEnd> {
    const result = await runToEnd<DelegationResult>({ toolCallId, name: input.agent }, () =>
      startChild(agentTurnWorkflow, {
        ...optionsFor(input),
        staticSummary: `${input.agent}, asked by ${turn.agent}, for ${input.user ?? 'a service'}`,
        workflowId: `${workflowInfo().workflowId}/agent/${toolCallId}`,
        // It begins later than the turn it is a part of, so that the turn's own time runs out first.
        ...timeoutOf(workflowInfo()),
        args: [input],
      }),
    );
    if (result === null) return { status: 'failed' };
    const { refused: more, ...end } = result;
    for (const [server, answer] of more) refused.set(server, answer);
    return end;
  }

  async function runTool(call: DurableCall, approval?: GivenApproval): Promise<void> {
    const { toolCallId, toolName, bundle } = call;
    const end = await runToEnd<DurableToolEnd>(
      { toolCallId, name: toolName },
      () =>
        startChild(durableToolWorkflow, {
          ...optionsFor(turn),
          staticSummary: `${toolName}, called by ${turn.agent}, for ${turn.user ?? 'a service'}`,
          workflowId: `${workflowInfo().workflowId}/tool/${toolCallId}`,
          taskQueue: toolQueueName(workflowInfo().taskQueue, bundle),
          ...timeoutOf(workflowInfo()),
          memo: { turnId: turn.turnId, toolName },
          args: [{ turn, toolCallId, toolName, ...(approval && { approval }) }],
        }),
      (result) => followDurableTool(turn, call, result),
    );
    if (end?.status === 'superseded') listener?.onSuperseded();
    if (end === null) await endLostTool(turn, call);
  }

  /** What the workflow returns; null when it was ended from outside. */
  async function runToEnd<T>(
    { toolCallId, name }: { toolCallId: string; name: string },
    start: () => Promise<ChildWorkflowHandle<Workflow>>,
    follow: (result: Promise<T>) => Promise<T> = (result) => result,
  ): Promise<T | null> {
    try {
      const handle = await start();
      delegates.set(toolCallId, { name, phase: 'working', handle });
      return await follow(handle.result() as Promise<T>);
    } catch (error) {
      if (CancellationScope.current().consideredCancelled) throw error;
      // Ended from outside, by an operator.
      if (error instanceof ChildWorkflowFailure || error instanceof WorkflowExecutionAlreadyStartedError)
        return null;
      throw error;
    } finally {
      delegates.delete(toolCallId);
    }
  }

  return {
    run,
    runTool,
    waiting: () => [...delegates.values()].flatMap(({ name, phase }) => (phase === 'waiting' ? [name] : [])),
    supersede(until) {
      // The signal fails if the delegate has ended meanwhile, which is fine.
      for (const { handle } of delegates.values()) handle.signal(supersede, { until }).catch(() => undefined);
      return delegates.size > 0;
    },
    tell(toolCallId, verdict) {
      // The signal fails if the delegate has ended meanwhile: then it does not matter any more.
      delegates
        .get(toolCallId)
        ?.handle.signal(accountVerdict, verdict)
        .catch(() => undefined);
    },
    listen: (to) => {
      listener = to;
    },
  };
}

function timeoutOf({ executionTimeoutMs }: WorkflowInfo): ChildWorkflowOptions {
  return executionTimeoutMs === undefined ? {} : { workflowExecutionTimeout: executionTimeoutMs };
}

/** Cancellation, and what operators see of the child workflow: the same attributes as a turn has. */
function optionsFor({ turnId, conversation, agent, user }: TurnInput): ChildWorkflowOptions {
  return {
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    memo: { turnId },
    typedSearchAttributes: [
      { key: searchAttributes.agent, value: agent },
      { key: searchAttributes.conversation, value: conversation },
      ...(user === null ? [] : [{ key: searchAttributes.user, value: user }]),
      { key: searchAttributes.status, value: 'running' },
    ],
    staticDetails: `Part of turn \`${turnId}\` of conversation \`${conversation}\``,
  };
}
