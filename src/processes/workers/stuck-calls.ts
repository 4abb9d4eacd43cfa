/**
 * Ends calls of tools whose code does not give control back, whenever in the call that begins and whether or not anybody
 * still waits for it: each further attempt would keep other calls of the same worker waiting.
 */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { aboutTurnOf } from '../../telemetry/events.ts';
import { endIfStuck } from '../../activities/durable-tools/stuck-tool.ts';

export interface StuckCalls {
  /** A task of this call has just been cut off. */
  check(workflowId: string): void;
  /** Of the workflows that this query finds: a call that takes its worker's thread with it, or the process, is not told of by `check`. */
  checkAll(query: string): void;
  /** Waits for what is under way. */
  idle(): Promise<void>;
}

interface Parts {
  client: Client;
  logger: Pick<Logger, 'error' | 'warn'>;
}

export function createStuckCalls({ client, logger }: Parts): StuckCalls {
  const underWay = new Set<Promise<void>>();

  function start(work: () => Promise<void>): void {
    const working = work()
      .catch((err: unknown) => logger.warn({ err }, 'could not look whether calls of tools are stuck'))
      .finally(() => underWay.delete(working));
    underWay.add(working);
  }

  async function check(workflowId: string): Promise<void> {
    if (!(await endIfStuck(client, workflowId))) return;
    const { memo } = await client.workflow.getHandle(workflowId).describe();
    logger.error(
      {
        ...aboutTurnOf(workflowId),
        toolName: memo?.['toolName'],
        toolCallId: workflowId.split('/tool/').at(-1),
      },
      'a tool was ended, because its code ran for seconds without waiting for anything: look for an endless loop',
    );
  }

  return {
    check: (workflowId) => start(() => check(workflowId)),
    checkAll: (query) =>
      start(async () => {
        for await (const { workflowId } of client.workflow.list({ query })) await check(workflowId);
      }),
    idle: async () => void (await Promise.all(underWay)),
  };
}
