import type { WorkflowStartOptions } from '@temporalio/client';
import type { Config } from '../config.ts';
import type { NewTurn } from '../storage/storage.ts';
import { searchAttributes, turnWorkflowId } from '../workflows/messages.ts';
import type { TurnInput } from '../workflows/messages.ts';

/** How a turn's workflow is started. Ids and limits only: all of this is read by operators and kept in history. */
export function startOptions(
  turn: NewTurn,
  config: Pick<Config, 'agents' | 'elicitation' | 'temporal'>,
): WorkflowStartOptions {
  const { tenant, conversation, turnId, user, capabilities } = turn;
  const agent = config.agents.get(turn.agent);
  const limits = { maxSteps: agent?.maxSteps ?? 20, elicitationTimeoutMs: config.elicitation.timeoutMs };
  const input: TurnInput = { tenant, conversation, turnId, agent: turn.agent, user, capabilities, limits };
  return {
    workflowId: turnWorkflowId(turn),
    workflowIdConflictPolicy: 'FAIL',
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    taskQueue: config.temporal.taskQueue,
    args: [input],
    memo: { turnId },
    typedSearchAttributes: [
      { key: searchAttributes.agent, value: turn.agent },
      { key: searchAttributes.conversation, value: conversation },
      ...(user === null ? [] : [{ key: searchAttributes.user, value: user }]),
      { key: searchAttributes.status, value: 'running' },
    ],
    staticSummary: `${agent?.title ?? turn.agent} for ${user ?? 'a service'}`,
    staticDetails: `Turn \`${turnId}\` of conversation \`${conversation}\``,
  };
}
