/** Temporal loses turns together with what brings them to somebody outside: they hear of the end nevertheless. */
import { expect, test } from 'vitest';
import { pushWorkflowId, slackDeliveryWorkflowId, turnWorkflowId } from '../../src/workflows/messages.ts';
import { connectAgent } from '../a2a/a2a-client.ts';
import { isTold, startPushTarget } from '../a2a/push-target.ts';
import { asks, form } from '../servers/playing-server.ts';
import { buttonsOf } from '../servers/slack/views.ts';
import { asksForCity, soon, useAskingInSlack } from '../slack/asking-in-slack.ts';

const setup = await useAskingInSlack({ env: { A2A_PUSH_TARGETS: 'local' } });

/** As after the loss of its database: Temporal does not know of them, and its lists do not either. */
async function lose(...workflowIds: string[]): Promise<void> {
  const { workflowService, options } = setup.temporal.client;
  for (const workflowId of workflowIds)
    await workflowService.deleteWorkflowExecution({
      namespace: options.namespace,
      workflowExecution: { workflowId },
    });
}

test(
  'the thread in Slack says how the answer ended, and asks nobody any more',
  { timeout: 60_000 },
  async () => {
    const asked = await setup.begin(asksForCity());
    const { elicitationId } = await asked.question();
    const { storage } = setup.service;
    const question = await storage.elicitations.get(elicitationId);
    const { turnId = '', workflowId = '' } = question ?? {};
    await lose(slackDeliveryWorkflowId(turnId), workflowId);
    const thread = () => setup.chat.thread('C1', asked.ts);
    await expect.poll(() => thread().at(-1)?.text, soon).toContain('was lost');
    await expect.poll(() => thread().flatMap(buttonsOf), soon).toEqual([]);
    const delivery = await setup.deliveryOf(asked.ts);
    expect(await delivery.result()).toEqual({ status: 'delivered' });
    expect(new Set(setup.chat.texts('C1', asked.ts)).size).toBe(thread().length);
  },
);

test(
  'a push target is told that its task has failed; what it is told again has the ids that it had',
  { timeout: 60_000 },
  async () => {
    await using target = await startPushTarget();
    setup.server.play(asks({ city: form('Which city?', { city: { type: 'string' } }) }));
    const agent = await connectAgent(setup.service);
    const push = { tenant: '', id: '', taskId: '', url: target.url, token: '', authentication: undefined };
    const { id, contextId } = await agent.send('call asking__ask {}', { push });
    await target.until(isTold('INPUT_REQUIRED', id));
    const { storage } = setup.service;
    const [deliveryId = ''] = await storage.pushConfigs.deliveriesOf({ tenant: 'demo', turnId: id });
    await lose(pushWorkflowId(deliveryId), turnWorkflowId({ tenant: 'demo', conversation: contextId }));
    await target.until(isTold('FAILED', id));
    const told = target.received.map(
      ({ headers, text }) => [headers['x-a2a-notification-id'], text] as const,
    );
    expect(new Set(told.map(([, text]) => text)).size).toBe(new Map(told).size);
  },
);
