/**
 * Starts and hints the workflows that deliver a turn outside of the service: push notifications, and answers in Slack. A hint
 * says that the turn's log has grown; it may be lost, because deliveries also look by themselves.
 */
import type { Logger } from 'pino';
import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { TurnRef } from '../turn/turn.ts';
import { aboutTurn } from '../platform/telemetry/events.ts';
import type { Config } from '../platform/config/config.ts';
import type { PushConfig } from '../storage/schema/session-tables.ts';
import type { Storage } from '../storage/storage.ts';
import {
  pushWorkflow,
  pushWorkflowId,
  slackDeliveryDeadMs,
  slackDeliveryWorkflow,
  slackDeliveryWorkflowId,
  taskTimeouts,
  turnNews,
} from '../workflows/messages.ts';
import type { PushInput, SlackDeliveryInput } from '../workflows/messages.ts';
import type { NewSlackDelivery } from '../storage/tables/slack-deliveries.ts';
import { routedByTemporal } from '../storage/tables/versions.ts';
import { pinnedTo } from '../platform/temporal/deployment.ts';
import type { TemporalCalls } from './temporal-calls.ts';

/** Longer than Slack is ever away. After that, nobody expects the answer in the thread any more. */
const slackDeadlineMs = 24 * 60 * 60 * 1000;
const startDeadlineMs = 5_000;
const hintDeadlineMs = 2_000;
/** A backstop: a delivery ends by itself, at the latest at its deadline after the turn's end. */
const marginMs = 24 * 60 * 60_000;

interface Parts {
  client: Client;
  calls: Pick<TemporalCalls, 'within' | 'unavailable'>;
  config: Pick<Config, 'temporal' | 'turn' | 'a2a' | 'slack'>;
  storage: Storage;
  logger: Logger;
}

export type Deliveries = ReturnType<typeof createDeliveries>;

export function createDeliveries(parts: Parts) {
  const { client, calls, storage, config, logger } = parts;

  function startPush({ deliveryId, turn }: Pick<PushConfig, 'deliveryId' | 'turn'>): Promise<void> {
    const { pushDeadlineMs: deadlineMs } = config.a2a;
    const input: PushInput = { deliveryId, deadlineMs, position: null, failingSince: null };
    return startDelivery(parts, {
      workflow: pushWorkflow,
      workflowId: pushWorkflowId(deliveryId),
      input,
      turn,
      summary: 'Notifications of a task',
      otherwise: 'Perhaps nobody will be notified.',
    });
  }

  function startSlackWorkflow(turn: NewSlackDelivery['turn']): Promise<void> {
    const { turnId } = turn;
    const input: SlackDeliveryInput = {
      turnId,
      deadlineMs: slackDeadlineMs,
      position: 0,
      failingSince: null,
    };
    return startDelivery(parts, {
      workflow: slackDeliveryWorkflow,
      workflowId: slackDeliveryWorkflowId(turnId),
      input,
      turn,
      summary: 'Answer in Slack',
      otherwise: 'Its answer may not be shown.',
    });
  }

  function signal(workflowId: string): Promise<void> {
    return calls.within(hintDeadlineMs, () => client.workflow.getHandle(workflowId).signal(turnNews));
  }

  async function hintPush(turn: TurnRef): Promise<void> {
    for (const deliveryId of await storage.pushConfigs.deliveriesOf(turn))
      await signal(pushWorkflowId(deliveryId));
  }

  async function hintSlack(turnId: string): Promise<void> {
    try {
      if (await storage.slack.deliveries.get(turnId)) await signal(slackDeliveryWorkflowId(turnId));
    } catch (error) {
      logger.debug({ err: error, turnId }, 'an answer in Slack is delayed');
    }
  }

  async function resumePush(turn: TurnRef): Promise<void> {
    for (const deliveryId of await storage.pushConfigs.deliveriesOf(turn))
      await startPush({ deliveryId, turn });
  }

  async function resumeSlack({ turnId }: TurnRef): Promise<void> {
    const delivery = config.slack && (await storage.slack.deliveries.get(turnId));
    if (delivery) await startSlackWorkflow(delivery.turn);
  }

  return {
    startPush,
    async startSlack(delivery: NewSlackDelivery): Promise<void> {
      await storage.slack.deliveries.begin(delivery);
      const { turnId } = delivery.turn;
      // Turns that have made room for this one have news, and need not wait any more.
      for (const earlier of await storage.slack.deliveries.earlier(turnId, slackDeliveryDeadMs))
        void hintSlack(earlier);
      await startSlackWorkflow(delivery.turn);
    },
    hint(turn: TurnRef): void {
      hintPush(turn).catch((error: unknown) =>
        logger.debug({ err: error, ...aboutTurn(turn) }, 'notifications are delayed'),
      );
      if (config.slack) void hintSlack(turn.turnId);
    },
    /** Starts the deliveries of a turn again that may have been lost together with it. */
    async resume(turn: TurnRef): Promise<void> {
      await Promise.all([resumePush(turn), resumeSlack(turn)]);
    },
  };
}

interface Delivery {
  workflow: string;
  workflowId: string;
  input: { deadlineMs: number };
  turn: Pick<TurnRef, 'turnId' | 'conversation'>;
  /** For the Temporal UI. */
  summary: string;
  /** The consequence when its start is not confirmed, for the error. */
  otherwise: string;
}

/** A no-op while it runs and after its own end. A delivery that was ended from outside begins again. */
async function startDelivery(
  { client, calls, config, storage }: Parts,
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
