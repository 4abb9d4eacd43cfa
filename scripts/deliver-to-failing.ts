/** One delivery of notifications, of a task that asks, to a target that fails so many times at first. */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowClient } from '@temporalio/client';
import { connectAgent } from '../test/api/a2a/a2a-client.ts';
import { isTold, startPushTarget } from '../test/api/a2a/push-target.ts';
import type { Deployment } from '../test/e2e/deployment.ts';

/** Resolves with the id of its workflow once that is over. A target that fails often is given up. */
export async function deliverToFailing(
  { deployment, temporal }: { deployment: Deployment; temporal: WorkflowClient },
  failures: number,
): Promise<string> {
  await using target = await startPushTarget();
  target.answer(...Array.from({ length: failures }, () => 503));
  const agent = await connectAgent(
    { baseUrl: deployment.baseUrl, token: () => deployment.token('alice') },
    { agent: 'asked' },
  );
  const push = { tenant: '', id: '', taskId: '', url: target.url, token: '', authentication: undefined };
  const { id: taskId } = await agent.send('call rounds__book {"city":"Rome"}', { push });
  const workflowId = await latestDelivery(temporal);
  if (failures === 1) await target.until(isTold('INPUT_REQUIRED', taskId));
  await agent.send({ nights: 1 }, { taskId });
  await temporal.getHandle(workflowId).result();
  return workflowId;
}

/** Temporal lists what has begun a little later. */
async function latestDelivery(temporal: WorkflowClient): Promise<string> {
  for (;;) {
    const query = `WorkflowType = 'pushNotifications' AND ExecutionStatus = 'Running'`;
    for await (const { workflowId } of temporal.list({ query })) return workflowId;
    await delay(100);
  }
}
