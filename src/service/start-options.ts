import type { WorkflowStartOptions } from '@temporalio/client';
import type { Config } from '../config/config.ts';
import type { NewTurn } from '../storage/ports/turns.ts';
import { pinnedTo } from '../temporal/deployment.ts';
import { searchAttributes, taskTimeouts, turnWorkflowId } from '../workflows/messages.ts';
import type { TurnInput } from '../workflows/messages.ts';

export type StartConfig = Pick<Config, 'agents' | 'servers' | 'elicitation' | 'turn' | 'temporal'>;

/** How a turn's workflow is started, and with which version of its code. Ids and limits only: all of this is read by operators and kept in history. */
export function startOptions(
  turn: NewTurn,
  { buildId, config }: { buildId: string; config: StartConfig },
): WorkflowStartOptions {
  const { tenant, conversation, turnId, user, capabilities, hops } = turn;
  const agent = config.agents.get(turn.agent);
  const limits = {
    maxSteps: agent?.maxSteps ?? 20,
    elicitationTimeoutMs: config.elicitation.timeoutMs,
    toolCallMs: toolCallMs(config),
  };
  const input: TurnInput = {
    tenant,
    conversation,
    turnId,
    agent: turn.agent,
    user,
    capabilities,
    limits,
    ...(hops !== undefined && { hops }),
  };
  return {
    workflowId: turnWorkflowId(turn),
    workflowIdConflictPolicy: 'FAIL',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    ...pinnedTo(config.temporal, buildId),
    taskQueue: config.temporal.taskQueue,
    // The turn's row judges how long it takes (see the reconciler); this is for a workflow that does not even end then.
    workflowExecutionTimeout: 2 * config.turn.timeoutMs + 60 * 60_000,
    workflowTaskTimeout: taskTimeouts.workflowTask,
    args: [input],
    memo: { turnId },
    typedSearchAttributes: [
      { key: searchAttributes.agent, value: turn.agent },
      { key: searchAttributes.conversation, value: conversation },
      ...(user === null ? [] : [{ key: searchAttributes.user, value: user }]),
      { key: searchAttributes.rootTurn, value: turnId },
    ],
    staticSummary: `${agent?.title ?? turn.agent} for ${user ?? 'a service'}`,
    staticDetails: `Turn \`${turnId}\` of conversation \`${conversation}\``,
  };
}

/** For all that comes with a call that its server does not answer for: credentials, lists, a busy database. */
const marginMs = 5 * 60_000;

/** The most that a call may take, at whatever server: every round it may ask, with the time its people have. */
function toolCallMs({ servers, elicitation }: Pick<Config, 'servers' | 'elicitation'>): number {
  const longest = [...servers.values()].map(
    ({ maxRounds, timeout }) => (maxRounds + 1) * (elicitation.timeoutMs + timeout),
  );
  return Math.max(0, ...longest) + marginMs;
}
