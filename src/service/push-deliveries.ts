/** Starts the workflows that deliver notifications, and hints at news of a turn to those that it has. */
import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { PushConfig } from '../storage/ports/push-configs.ts';
import type { Storage } from '../storage/storage.ts';
import { pushWorkflow, pushWorkflowId, turnNews } from '../workflows/messages.ts';
import type { PushInput } from '../workflows/messages.ts';
import type { TemporalCalls } from './temporal-calls.ts';

const startDeadlineMs = 5_000;
const hintDeadlineMs = 2_000;

export interface PushDeliveries {
  /** Again is a no-op, also when it has ended. */
  start(push: Pick<PushConfig, 'deliveryId' | 'turn'>): Promise<void>;
  /** Nobody waits for it, and it may be lost: deliveries look by themselves, too. */
  hint(turn: PushConfig['turn']): void;
}

interface Parts {
  client: Client;
  calls: Pick<TemporalCalls, 'within' | 'unavailable'>;
  storage: Pick<Storage, 'pushConfigs'>;
  config: Pick<Config, 'temporal' | 'a2a'>;
  logger: Logger;
}

export function createPushDeliveries({ client, calls, storage, config, logger }: Parts): PushDeliveries {
  async function signal(turn: PushConfig['turn']): Promise<void> {
    for (const deliveryId of await storage.pushConfigs.deliveriesOf(turn))
      await calls.within(hintDeadlineMs, () =>
        client.workflow.getHandle(pushWorkflowId(deliveryId)).signal(turnNews),
      );
  }

  return {
    async start({ deliveryId, turn }) {
      const { pushDeadlineMs: deadlineMs } = config.a2a;
      const input: PushInput = { deliveryId, deadlineMs, position: null, failingSince: null };
      try {
        await calls.within(startDeadlineMs, () =>
          client.workflow.start(pushWorkflow, {
            workflowId: pushWorkflowId(deliveryId),
            workflowIdConflictPolicy: 'USE_EXISTING',
            workflowIdReusePolicy: 'REJECT_DUPLICATE',
            taskQueue: config.temporal.taskQueue,
            args: [input],
            staticSummary: 'Notifications of a task',
            staticDetails: `Turn \`${turn.turnId}\` of conversation \`${turn.conversation}\``,
          }),
        );
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return;
        throw await calls.unavailable(error, 'Nobody will be notified.');
      }
    },
    hint(turn) {
      signal(turn).catch((error: unknown) =>
        logger.debug({ err: error, turnId: turn.turnId }, 'notifications come a little later'),
      );
    },
  };
}
