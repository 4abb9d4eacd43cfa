/** Changed code is deployed while answers in Slack wait for people. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { slackDeliveryWorkflowId } from '../../../src/workflows/messages.ts';
import {
  alice,
  service,
  startVersion,
  temporal,
  useVersionedWorkers,
} from '../../platform/processes/versioned-workers.ts';
import { addChat } from '../../servers/slack/chat.ts';
import type { Chat } from '../../servers/slack/chat.ts';
import { startSlackServer } from '../../servers/slack/slack-server.ts';
import type { SlackServer } from '../../servers/slack/slack-server.ts';
import type { Workspace } from '../../servers/slack/slack-state.ts';
import { linkAlice, writeAsAlice } from './alice-in-slack.ts';

/** Its first command is one that a delivery of today does not begin with. */
const changed = `
import { upsertMemo } from '@temporalio/workflow';
import { slackDelivery as unchanged } from '../../src/workflows/deliveries.ts';
export { agentTurn } from '../../src/workflows/agent-turn.ts';
export { pushNotifications } from '../../src/workflows/deliveries.ts';
export async function slackDelivery(input) {
  upsertMemo({ changed: true });
  return unchanged(input);
}`;

let slack: SlackServer;
let acme: Workspace;
let chat: Chat;
beforeAll(async () => {
  slack = await startSlackServer();
  acme = slack.addWorkspace('T1', 'Acme');
  acme.addUser('U1');
  chat = addChat(slack);
});
afterAll(() => slack[Symbol.asyncDispose]());
useVersionedWorkers({
  changed,
  env: () => ({ ...slack.env, SLACK_BOT_TOKEN: acme.botToken, SLACK_TENANT: 'demo' }),
});
const soon = { timeout: 40_000 };
beforeEach(() => linkAlice(service.storage.slack));

/** Somebody is asked in a thread of their own, and the thread says so. */
async function waitingAnswer() {
  const ts = await writeAsAlice(slack, service, 'list my open issues');
  await expect.poll(() => chat.texts('DU1', ts).join(), soon).toContain('asks:');
  const { threads } = service.storage.slack;
  const thread = await threads.get({ team: 'T1', channel: 'DU1', threadTs: ts, slackUser: 'U1' });
  const { conversation = '' } = thread ?? {};
  const [question] = await service.storage.elicitations.ofConversation({ tenant: 'demo', conversation });
  const delivery = temporal.client.workflow.getHandle(slackDeliveryWorkflowId(question?.turnId ?? ''));
  return {
    texts: () => chat.texts('DU1', ts),
    delivery,
    isChanged: async () => (await delivery.describe()).memo?.['changed'] === true,
    async decline() {
      const elicitationId = question?.id ?? '';
      const answer = { conversationId: conversation, elicitationId, action: 'decline' } as const;
      expect((await alice.answer(answer)).status).toBeLessThan(300);
    },
  };
}

async function goesOnOnce({
  texts,
  delivery,
  decline,
}: Awaited<ReturnType<typeof waitingAnswer>>): Promise<void> {
  await decline();
  expect(await delivery.result()).toEqual({ status: 'delivered' });
  const [first, settled, last, ...others] = texts().slice(-3);
  const shown = [first, settled, last].filter((text) => text !== undefined);
  expect(shown.filter((text) => text === '*Tracker*: Declined elsewhere.')).toHaveLength(1);
  expect(shown.at(-1)).toMatch(/declined|connect/i);
  expect(others).toEqual([]);
  expect(new Set(texts()).size).toBe(texts().length);
}

test('changed code is deployed while answers wait: old ones go on with the old code, new ones begin with the new', async () => {
  await startVersion('old', 'today');
  const before = await waitingAnswer();
  await startVersion('new', 'changed');
  const after = await waitingAnswer();
  expect(await Promise.all([before, after].map((one) => one.isChanged()))).toEqual([false, true]);
  await goesOnOnce(before);
  await goesOnOnce(after);
});

test('an answer goes on with its own code after the image was replaced', async () => {
  const old = await startVersion('old', 'today');
  const answer = await waitingAnswer();
  await old.disposeAsync();
  await startVersion('new', 'changed');
  await goesOnOnce(answer);
  expect(await answer.isChanged()).toBe(false);
});
