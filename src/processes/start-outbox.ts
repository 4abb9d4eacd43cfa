/** What a process does with the marks of the outbox. API and worker processes run it; one that is both runs it once. */
import type { Client } from '@temporalio/client';
import { createAbandonCalls } from '../activities/call-tool/abandon-call.ts';
import { createDeliveries } from '../service/deliveries.ts';
import { startOutbox } from '../service/outbox.ts';
import { createTemporalCalls } from '../service/temporal-calls.ts';
import type { InstallationWatch } from '../installation/installation.ts';
import type { Dependencies } from './dependencies.ts';

type Parts = Omit<Dependencies, 'installation'> & { installation?: Pick<InstallationWatch, 'isTogether'> };

/** It ends with the stack. */
export function sendOutbox(parts: Parts, client: Client, stack: AsyncDisposableStack): void {
  const calls = createTemporalCalls({ ...parts, client });
  const deliveries = createDeliveries({ ...parts, client, calls });
  const sender = startOutbox({
    ...parts,
    client,
    abandonCalls: createAbandonCalls(parts),
    onSent: deliveries.hint,
  });
  parts.onMarks(sender.deliver);
  stack.defer(async () => {
    await sender.stop();
    await calls.idle();
  });
}
