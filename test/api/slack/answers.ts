/** What the tests of answers in Slack ask of the service and of the fake. */
import { expect } from 'vitest';
import { slackDeliveryWorkflowId } from '../../../src/workflows/messages.ts';
import type { SlackService } from './slack-service.ts';

export function createAnswers(setup: SlackService) {
  /** The log of the turn, which has begun by then. */
  async function logOf(threadTs: string, channel = 'C1') {
    const { threads } = setup.service.storage.slack;
    const find = () => threads.get({ team: 'T1', channel, threadTs, slackUser: 'U1' });
    const read = async () => {
      const known = await find();
      return known ? setup.service.storage.turnLog.read(known, 0) : [];
    };
    await expect.poll(read).not.toEqual([]);
    return read();
  }

  /** Of the turn, which may have begun before it. */
  async function deliveryOf(threadTs: string, channel?: string) {
    const [first] = await logOf(threadTs, channel);
    const id = slackDeliveryWorkflowId(first?.turnId ?? '');
    const delivery = setup.temporal.client.workflow.getHandle(id);
    const isThere = () =>
      delivery.describe().then(
        () => true,
        () => false,
      );
    await expect.poll(isThere).toBe(true);
    return delivery;
  }

  async function ask(text: string, channel = 'C1') {
    const { ts } = await setup.write({
      by: 'U1',
      text: channel === 'C1' ? `<@${setup.acme.botUser}> ${text}` : text,
      channel,
    });
    const delivery = await deliveryOf(ts, channel);
    return { ts, delivery, result: await delivery.result() };
  }

  return { logOf, deliveryOf, ask };
}
