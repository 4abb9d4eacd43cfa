/** The workflows that bring turns to somebody outside: each is started once, and hinted at news of its turn. */
import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Config } from '../config/config.ts';
import type { Storage } from '../storage/storage.ts';
import { routedByTemporal } from '../storage/ports/versions.ts';
import { pinnedTo } from '../temporal/deployment.ts';
import type { TurnRef } from '../turn/turn.ts';
import { taskTimeouts, turnNews } from '../workflows/messages.ts';
import type { TemporalCalls } from './temporal-calls.ts';

const startDeadlineMs = 5_000;
const hintDeadlineMs = 2_000;
/** A backstop: a delivery ends by itself, at the deadline of those who fail after the turn's end at the latest. */
const marginMs = 24 * 60 * 60_000;

export interface DeliveryParts {
  client: Client;
  calls: Pick<TemporalCalls, 'within' | 'unavailable'>;
  config: Pick<Config, 'temporal' | 'turn'>;
  storage: Pick<Storage, 'versions'>;
}

interface Delivery {
  workflow: string;
  workflowId: string;
  input: { deadlineMs: number };
  turn: Pick<TurnRef, 'turnId' | 'conversation'>;
  /** For the Temporal UI. */
  summary: string;
  /** What it means that its start was not confirmed. */
  otherwise: string;
}

/** Again is a no-op while it is at work, and when it has come to its own end; one that was ended from outside begins again. */
export async function startDelivery(
  { client, calls, config, storage }: DeliveryParts,
  { workflow, workflowId, input, turn, summary, otherwise }: Delivery,
): Promise<void> {
  const buildId = (await storage.versions.current(config.temporal.deployment.name)) ?? routedByTemporal;
  try {
    await calls.within(startDeadlineMs, () =>
      client.workflow.start(workflow, {
        workflowId,
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
        ...pinnedTo(config.temporal, buildId),
        taskQueue: config.temporal.taskQueue,
        workflowExecutionTimeout: config.turn.timeoutMs + input.deadlineMs + marginMs,
        workflowTaskTimeout: taskTimeouts.workflowTask,
        args: [input],
        staticSummary: summary,
        staticDetails: `Turn \`${turn.turnId}\` of conversation \`${turn.conversation}\``,
      }),
    );
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return;
    throw await calls.unavailable(error, otherwise);
  }
}

export function hintDelivery({ client, calls }: DeliveryParts, workflowId: string): Promise<void> {
  return calls.within(hintDeadlineMs, () => client.workflow.getHandle(workflowId).signal(turnNews));
}
