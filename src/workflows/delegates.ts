/**
 * The delegated agents of this agent. Each runs as a child workflow of the same type, is cancelled with its parent, and
 * is awaited like a tool call. It reports by signal whether it works or only waits for a person.
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
import type { DelegatedCall } from '../turn/tool-call.ts';
import type { Delegation, TurnEnd } from '../turn/turn.ts';
import { finishDelegation } from './activities.ts';
import { agentTurnWorkflow, delegatePhase, searchAttributes, supersede } from './messages.ts';
import type { DelegatePhase, DelegationResult, TurnInput } from './messages.ts';
import { readDelegatePhase } from './read-signal.ts';

export interface Delegates {
  /** Runs the delegated agent to its end and stores the result for the model that asked. */
  run(call: DelegatedCall): Promise<void>;
  /** The names of those that only wait for a person. */
  waiting(): string[];
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
  agent: string;
  phase: DelegatePhase['phase'];
  handle: ChildWorkflowHandle<Workflow>;
}

/** `refused`: for which servers the user has declined to connect an account. Delegates start with it and add to it. */
export function createDelegates(turn: TurnInput, refused: Map<string, AskResult>): Delegates {
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
    const end = await runToEnd({ ...turn, agent, delegation, limits, refused: [...refused] }, delegation);
    if (end.status === 'superseded') listener?.onSuperseded();
    const summary = `${agent}: ${end.failure?.code ?? end.status}`;
    await finishDelegation.executeWithOptions({ summary }, [{ turn, delegation, end }]);
  }

  async function runToEnd(input: TurnInput, { toolCallId }: Delegation): Promise<TurnEnd> {
    try {
      const handle = await startChild(agentTurnWorkflow, {
        ...optionsFor(input, turn.agent),
        workflowId: `${workflowInfo().workflowId}/agent/${toolCallId}`,
        // It begins later than the turn it is a part of, so that the turn's own time runs out first.
        ...timeoutOf(workflowInfo()),
        args: [input],
      });
      delegates.set(toolCallId, { agent: input.agent, phase: 'working', handle });
      const { refused: more, ...end } = (await handle.result()) as DelegationResult;
      for (const [server, answer] of more) refused.set(server, answer);
      return end;
    } catch (error) {
      if (CancellationScope.current().consideredCancelled) throw error;
      // Ended from outside, by an operator.
      if (error instanceof ChildWorkflowFailure || error instanceof WorkflowExecutionAlreadyStartedError)
        return { status: 'failed' };
      throw error;
    } finally {
      delegates.delete(toolCallId);
    }
  }

  return {
    run,
    waiting: () =>
      [...delegates.values()].flatMap(({ agent, phase }) => (phase === 'waiting' ? [agent] : [])),
    supersede(until) {
      // The signal fails if the delegate has ended meanwhile, which is fine.
      for (const { handle } of delegates.values()) handle.signal(supersede, { until }).catch(() => undefined);
      return delegates.size > 0;
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
function optionsFor({ turnId, conversation, agent, user }: TurnInput, askedBy: string): ChildWorkflowOptions {
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
    staticSummary: `${agent}, asked by ${askedBy}, for ${user ?? 'a service'}`,
    staticDetails: `Part of turn \`${turnId}\` of conversation \`${conversation}\``,
  };
}
