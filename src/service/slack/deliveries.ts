/** Starts the workflows that show answers in Slack, and hints at news of a turn to the one that it has. */
import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import type { NewSlackDelivery } from '../../storage/ports/slack-deliveries.ts';
import type { Storage } from '../../storage/storage.ts';
import type { TurnRef } from '../../turn/turn.ts';
import {
  slackDeliveryDeadMs,
  slackDeliveryWorkflow,
  slackDeliveryWorkflowId,
} from '../../workflows/messages.ts';
import type { SlackDeliveryInput } from '../../workflows/messages.ts';
import { hintDelivery, startDelivery } from '../delivery-workflows.ts';
import type { DeliveryParts } from '../delivery-workflows.ts';

/** Longer than Slack is ever away; after that, nobody reads the thread for this answer. */
const deadlineMs = 24 * 60 * 60 * 1000;

export interface StartedSlackDeliveries {
  /** Again is a no-op, unless it was ended from outside: then it begins again. */
  start(delivery: NewSlackDelivery): Promise<void>;
  /** Starts the turn's, if it is shown in Slack, for a turn that may have been lost together with it. */
  resume(turn: Pick<TurnRef, 'turnId'>): Promise<void>;
  /** Nobody waits for it, and it may be lost: deliveries look by themselves, too. */
  hint(turn: Pick<TurnRef, 'turnId'>): void;
}

interface Parts extends DeliveryParts {
  storage: Pick<Storage, 'slack' | 'versions'>;
  config: DeliveryParts['config'] & Pick<Config, 'slack'>;
  logger: Logger;
}

export function createStartedSlackDeliveries(parts: Parts): StartedSlackDeliveries {
  const { storage, config, logger } = parts;

  async function signal(turnId: string): Promise<void> {
    if (!(await storage.slack.deliveries.get(turnId))) return;
    await hintDelivery(parts, slackDeliveryWorkflowId(turnId));
  }

  function hintTo(turnId: string): void {
    signal(turnId).catch((error: unknown) =>
      logger.debug({ err: error, turnId }, 'an answer in Slack is delayed'),
    );
  }

  function startWorkflow(turn: NewSlackDelivery['turn']): Promise<void> {
    const { turnId } = turn;
    const input: SlackDeliveryInput = { turnId, deadlineMs, position: 0, failingSince: null };
    return startDelivery(parts, {
      workflow: slackDeliveryWorkflow,
      workflowId: slackDeliveryWorkflowId(turnId),
      input,
      turn,
      summary: 'Answer in Slack',
      otherwise: 'Its answer may not be shown.',
    });
  }

  return {
    async start(delivery) {
      await storage.slack.deliveries.begin(delivery);
      const { turnId } = delivery.turn;
      // What it has made way for may be told at once, and waits for nobody any more.
      for (const earlier of await storage.slack.deliveries.earlier(turnId, slackDeliveryDeadMs))
        hintTo(earlier);
      await startWorkflow(delivery.turn);
    },
    async resume({ turnId }) {
      const delivery = config.slack && (await storage.slack.deliveries.get(turnId));
      if (delivery) await startWorkflow(delivery.turn);
    },
    hint({ turnId }) {
      if (config.slack) hintTo(turnId);
    },
  };
}
