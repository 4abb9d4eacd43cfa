/** A task for another agent: the same workflow as this one's, as a child, whose last words are the result of the call. */
import { startChild, workflowInfo } from '@temporalio/workflow';
import type { AskResult } from '../turn/ask.ts';
import type { DelegatedCall } from '../turn/tool-call.ts';
import type { TurnEnd } from '../turn/turn.ts';
import { finishDelegation } from './activities.ts';
import { childOptions } from './child-options.ts';
import type { Children } from './children.ts';
import { agentTurnWorkflow } from './messages.ts';
import type { DelegationResult, TurnInput } from './messages.ts';

interface Parts {
  children: Pick<Children, 'run' | 'ended'>;
  /** For which servers the user has declined to connect an account. The delegate starts with it and adds to it. */
  refused: Map<string, AskResult>;
  /** The delegate has ended, and what it added to `refused` is there. */
  onEnd(toolCallId: string): void;
}

/** Runs the delegated agent to its end and stores the result for the model that asked. */
export async function runDelegatedCall(turn: TurnInput, call: DelegatedCall, parts: Parts): Promise<void> {
  const { toolCallId, agent } = call;
  const input = inputOf(turn, call, parts.refused);
  const end = await runAgent(turn, input, call, parts).finally(() => parts.onEnd(toolCallId));
  parts.children.ended(end);
  const summary = `${agent}: ${end.failure?.code ?? end.status}`;
  const { delegation } = input;
  await finishDelegation.executeWithOptions({ summary }, [{ turn, delegation, end }]);
}

async function runAgent(
  turn: TurnInput,
  input: TurnInput,
  { toolCallId, agent }: DelegatedCall,
  { children, refused }: Parts,
): Promise<TurnEnd> {
  const result = await children.run<DelegationResult>(
    { kind: 'agent', toolCallId, name: agent },
    {
      start: () =>
        startChild(agentTurnWorkflow, {
          ...childOptions(input),
          staticSummary: `${agent}, asked by ${turn.agent}, for ${turn.user ?? 'a service'}`,
          workflowId: `${workflowInfo().workflowId}/agent/${toolCallId}`,
          args: [input],
        }),
    },
  );
  if (result === null) return { status: 'failed' };
  const { refused: more, ...end } = result;
  for (const [server, answer] of more) refused.set(server, answer);
  return end;
}

function inputOf(turn: TurnInput, { toolCallId, agent, maxSteps }: DelegatedCall, refused: Parts['refused']) {
  return {
    ...turn,
    agent,
    delegation: { toolCallId, path: [...(turn.delegation?.path ?? []), agent] },
    limits: { ...turn.limits, maxSteps },
    refused: [...refused],
    asksThroughParent: true,
    supersededByParent: true,
  } satisfies TurnInput;
}
