/** Temporal loses turns, together with what brings them to somebody outside or before they begin: they hear of the end all the same. */
import { expect, test } from 'vitest';
import { pushWorkflowId, slackDeliveryWorkflowId, turnWorkflowId } from '../../../src/workflows/messages.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { TurnRef } from '../../../src/turn/turn.ts';
import { connectAgent } from '../../api/a2a/a2a-client.ts';
import { isTold, pushTo, startPushTarget, storyOf } from '../../api/a2a/push-target.ts';
import { asks, form } from '../../servers/scripted-mcp-server.ts';
import { nextTs } from '../../servers/slack/slack-state.ts';
import { buttonsOf } from '../../servers/slack/views.ts';
import { asksForCity, useAskingInSlack } from '../../api/slack/asking-in-slack.ts';

/** Called with a turn that is about to begin, which it does once this resolves. */
let beforeBeginning: (turn: TurnRef) => Promise<void> | undefined = () => undefined;
const setup = await useAskingInSlack({
  env: { A2A_PUSH_TARGETS: 'local' },
  around: (storage) => {
    const begin: Storage['turns']['begin'] = async (turn) => {
      await beforeBeginning(turn);
      return storage.turns.begin(turn);
    };
    return { ...storage, turns: { ...storage.turns, begin } };
  },
});

/** The next turn, terminated before it begins. */
async function terminateUnbegun(start: () => Promise<unknown>): Promise<TurnRef> {
  const held = Promise.withResolvers<TurnRef>();
  const released = Promise.withResolvers<void>();
  beforeBeginning = (turn) => {
    held.resolve(turn);
    return released.promise;
  };
  const starting = start();
  const turn = await held.promise;
  beforeBeginning = () => undefined;
  await setup.temporal.client.workflow.getHandle(turnWorkflowId(turn)).terminate();
  const status = async () => (await setup.service.storage.turns.get(turn))?.status;
  await expect.poll(status).toBe('failed');
  released.resolve();
  await starting;
  return turn;
}

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
  { timeout: 120_000 },
  async () => {
    const asked = await setup.begin(asksForCity());
    const { elicitationId } = await asked.question();
    const { storage } = setup.service;
    const question = await storage.elicitations.get(elicitationId);
    await lose(slackDeliveryWorkflowId(question!.turnId), turnWorkflowId(question!));
    const thread = () => setup.chat.thread('C1', asked.ts);
    await expect.poll(() => thread().at(-1)?.text).toContain('was lost');
    await expect.poll(() => thread().flatMap(buttonsOf)).toEqual([]);
    const delivery = await setup.deliveryOf(asked.ts);
    expect(await delivery.result()).toEqual({ status: 'delivered' });
    expect(new Set(setup.chat.texts('C1', asked.ts)).size).toBe(thread().length);
  },
);

test(
  'a push target is told that its task has failed; what it is told again has the ids that it had',
  { timeout: 120_000 },
  async () => {
    await using target = await startPushTarget();
    setup.server.play(asks({ city: form('Which city?', { city: { type: 'string' } }) }));
    const agent = await connectAgent(setup.service);
    const push = pushTo(target);
    const { id, contextId } = await agent.send('call asking__ask {}', { push });
    await target.until(isTold('INPUT_REQUIRED', id));
    const { storage } = setup.service;
    const [deliveryId = ''] = await storage.pushConfigs.deliveriesOf({ tenant: 'demo', turnId: id });
    await lose(
      pushWorkflowId(deliveryId),
      turnWorkflowId({ tenant: 'demo', conversation: contextId, turnId: id }),
    );
    await target.until(isTold('FAILED', id));
    const told = target.received.map(
      ({ headers, text }) => [headers['x-a2a-notification-id'], text] as const,
    );
    expect(new Set(told.map(([, text]) => text)).size).toBe(new Map(told).size);
  },
);

test(
  'a thread whose turn never began says so, and its next message is answered',
  { timeout: 120_000 },
  async () => {
    const threadTs = nextTs();
    const say = (ts: string) =>
      setup.write({
        by: 'U1',
        text: `<@${setup.acme.botUser}> hello`,
        ts,
        ...(ts !== threadTs && { threadTs }),
      });
    await terminateUnbegun(() => say(threadTs));
    await say(nextTs());
    const said = ['I could not begin with this. Send it again.', 'You said: hello'];
    await expect.poll(() => setup.chat.texts('C1', threadTs)).toEqual(said);
  },
);

test('a push target is told that a task has failed which never began', async () => {
  await using target = await startPushTarget();
  const agent = await connectAgent(setup.service);
  const push = pushTo(target);
  const { turnId } = await terminateUnbegun(() => agent.send('hello', { push }));
  const received = await target.until(isTold('FAILED', turnId));
  expect(storyOf(received, turnId)).toEqual(['task SUBMITTED', 'FAILED']);
});
