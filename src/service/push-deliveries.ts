/** Starts the workflows that deliver notifications, and hints at news of a turn to those that it has. */
import type { Logger } from 'pino';
import { aboutTurn } from '../telemetry/events.ts';
import type { Config } from '../config/config.ts';
import type { PushConfig } from '../storage/ports/push-configs.ts';
import type { Storage } from '../storage/storage.ts';
import { pushWorkflow, pushWorkflowId } from '../workflows/messages.ts';
import type { PushInput } from '../workflows/messages.ts';
import { hintDelivery, startDelivery } from './delivery-workflows.ts';
import type { DeliveryParts } from './delivery-workflows.ts';

export interface PushDeliveries {
  /** Again is a no-op, unless it was ended from outside: then it begins again. */
  start(push: Pick<PushConfig, 'deliveryId' | 'turn'>): Promise<void>;
  /** Starts all of a turn's, for a turn that may have been lost together with them. */
  resume(turn: PushConfig['turn']): Promise<void>;
  /** Nobody waits for it, and it may be lost: deliveries look by themselves, too. */
  hint(turn: PushConfig['turn']): void;
}

interface Parts extends DeliveryParts {
  storage: Pick<Storage, 'pushConfigs' | 'versions'>;
  config: DeliveryParts['config'] & Pick<Config, 'a2a'>;
  logger: Logger;
}

export function createPushDeliveries(parts: Parts): PushDeliveries {
  const { storage, config, logger } = parts;

  async function signal(turn: PushConfig['turn']): Promise<void> {
    for (const deliveryId of await storage.pushConfigs.deliveriesOf(turn))
      await hintDelivery(parts, pushWorkflowId(deliveryId));
  }

  function start({ deliveryId, turn }: Pick<PushConfig, 'deliveryId' | 'turn'>): Promise<void> {
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

  return {
    start,
    async resume(turn) {
      for (const deliveryId of await storage.pushConfigs.deliveriesOf(turn))
        await start({ deliveryId, turn });
    },
    hint(turn) {
      signal(turn).catch((error: unknown) =>
        logger.debug({ err: error, ...aboutTurn(turn) }, 'notifications are delayed'),
      );
    },
  };
}
