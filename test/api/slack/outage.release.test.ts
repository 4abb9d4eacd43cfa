/**
 * Slack is away for ten minutes or for a day, or wants to be left alone for as long. A clock of Temporal's, on which that is no time: one
 * for each test, because that clock may stay locked after whatever passed on it.
 */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { slackDeliveryWorkflowId } from '../../../src/workflows/messages.ts';
import { SealingError } from '../../../src/credentials/sealing/key-ring.ts';
import { addChat } from '../../servers/slack/chat.ts';
import type { Chat } from '../../servers/slack/chat.ts';
import { startSlackServer } from '../../servers/slack/slack-server.ts';
import type { SlackServer } from '../../servers/slack/slack-server.ts';
import type { Workspace } from '../../servers/slack/slack-state.ts';
import { startService } from '../../service/service.ts';
import type { Service } from '../../service/service.ts';
import { createTimeSkipping, temporalOf } from '../../time-skipping.ts';
import { linkAlice, writeAsAlice } from './alice-in-slack.ts';
import { createTwoPartModel } from './two-part-model.ts';
import type { TwoPartModel } from './two-part-model.ts';

let environment: TestWorkflowEnvironment;
let slack: SlackServer;
let acme: Workspace;
let chat: Chat;
let model: TwoPartModel;
let service: Service;
/** What is thrown where an answer is about to be shown. */
let thrown: Error | null;

const tenMinutesMs = 10 * 60_000;
const dayMs = 24 * 60 * 60_000;

beforeEach(async () => {
  thrown = null;
  environment = await createTimeSkipping();
  slack = await startSlackServer();
  acme = slack.addWorkspace('T1', 'Acme');
  acme.addUser('U1');
  chat = addChat(slack);
  model = await createTwoPartModel();
  service = await startService({
    temporal: temporalOf(environment),
    env: { ...slack.env, ...model.env, SLACK_BOT_TOKEN: acme.botToken, SLACK_TENANT: 'demo' },
    around: (storage) => {
      const { deliveries } = storage.slack;
      const messages = async (turnId: string) => {
        if (thrown) throw thrown;
        return deliveries.messages(turnId);
      };
      return { ...storage, slack: { ...storage.slack, deliveries: { ...deliveries, messages } } };
    },
  });
  await linkAlice(service.storage.slack);
}, 60_000);
afterEach(async () => {
  await service.stop();
  await model[Symbol.asyncDispose]();
  await slack[Symbol.asyncDispose]();
  await environment.teardown();
});

const write = (text: string, threadTs?: string) => writeAsAlice(slack, service, text, threadTs);

/** The turns of the thread, once there are so many and all of them are over. */
async function turnsOf(threadTs: string, count: number): Promise<string[]> {
  const { slack: tables, turnLog } = service.storage;
  const ended = async () => {
    const known = await tables.threads.get({ team: 'T1', channel: 'DU1', threadTs, slackUser: 'U1' });
    const log = known ? await turnLog.read(known, 0) : [];
    return log.filter(({ event }) => event.type === 'turn-ended').map(({ turnId }) => turnId);
  };
  await expect.poll(async () => (await ended()).length).toBe(count);
  return ended();
}

const deliveryOf = (turnId: string) => environment.client.workflow.getHandle(slackDeliveryWorkflowId(turnId));

test('ten minutes without Slack: nothing is lost, nothing doubled, and the answers keep their order', async () => {
  const until = (await environment.currentTimeMs()) + tenMinutesMs;
  let isAway = true;
  let refused = 0;
  chat.fault = ({ method }) => {
    if (!isAway) return undefined;
    refused += 1;
    return { kind: method.startsWith('chat.') ? 'lost' : 'down' };
  };
  const threadTs = await write('one');
  await turnsOf(threadTs, 1);
  await write('two', threadTs);
  await turnsOf(threadTs, 2);
  await write('three', threadTs);
  const turns = await turnsOf(threadTs, 3);
  const returning = (async () => {
    while ((await environment.currentTimeMs()) < until)
      await new Promise((resolve) => setTimeout(resolve, 20));
    isAway = false;
  })();
  // The last one first: it waits for the others.
  const results = [];
  for (const turnId of turns.toReversed()) results.push(await deliveryOf(turnId).result());
  await returning;
  expect(results).toEqual(Array.from({ length: 3 }, () => ({ status: 'delivered' })));
  expect(await environment.currentTimeMs()).toBeGreaterThanOrEqual(until);
  expect(refused).toBeGreaterThan(3);
  expect(chat.texts('DU1', threadTs)).toEqual(['You said: one', 'You said: two', 'You said: three']);
}, 300_000);

test.each(['chat.startStream', 'chat.postMessage'])(
  'a limit of ten minutes on %s is waited for, and nothing is tried before',
  { timeout: 120_000 },
  async (method) => {
    let limited = 0;
    const began = await environment.currentTimeMs();
    const isLimited = Promise.withResolvers<void>();
    model.between = () => isLimited.promise;
    chat.fault = (call) => {
      if (call.method === 'chat.startStream' && method !== call.method)
        return { kind: 'refused', code: 'channel_type_not_supported' };
      if (call.method !== method || limited > 0) return undefined;
      limited += 1;
      isLimited.resolve();
      return { kind: 'limited', seconds: tenMinutesMs / 1000 };
    };
    const threadTs = await write('hello');
    const [turnId = ''] = await turnsOf(threadTs, 1);
    expect(await deliveryOf(turnId).result()).toEqual({ status: 'delivered' });
    expect(limited).toBe(1);
    expect((await environment.currentTimeMs()) - began).toBeGreaterThanOrEqual(tenMinutesMs);
    expect(chat.texts('DU1', threadTs)).toEqual(['You said: hello']);
  },
);

/**
 * Ends once the delivery is given up, with how long that took by its own times: the server's clock may have skipped further by
 * then. Its first run may have continued as another.
 */
async function msUntilGivenUp(turnId: string): Promise<number> {
  const delivery = deliveryOf(turnId);
  const { startTime } = await delivery.describe();
  expect(await delivery.result()).toEqual({ status: 'given-up' });
  const { closeTime } = await delivery.describe();
  return (closeTime?.getTime() ?? Number.NaN) - startTime.getTime();
}

test.each([
  ['a mistake of ours', new TypeError('undefined is no function')],
  ['a token whose key is gone', new SealingError('unknown-key', 'sealed with another key')],
])(
  '%s: the answer is given up after a day, and is not tried for ever',
  { timeout: 300_000 },
  async (_, error) => {
    thrown = error;
    const [turnId = ''] = await turnsOf(await write('one'), 1);
    const tookMs = await msUntilGivenUp(turnId);
    expect(tookMs).toBeGreaterThanOrEqual(dayMs);
    expect(tookMs).toBeLessThan(dayMs + tenMinutesMs);
  },
);

test('limits one after the other: the answer is given up after a day, and its workflow could not outlive it for long', async () => {
  chat.fault = ({ method }) =>
    method.startsWith('chat.') ? { kind: 'limited', seconds: tenMinutesMs / 1000 } : undefined;
  const [turnId = ''] = await turnsOf(await write('one'), 1);
  const tookMs = await msUntilGivenUp(turnId);
  expect(tookMs).toBeGreaterThanOrEqual(dayMs);
  expect(tookMs).toBeLessThan(dayMs + tenMinutesMs);
  // The turn may take a day, too.
  const { raw } = await deliveryOf(turnId).describe();
  const { seconds } = raw.executionConfig?.workflowExecutionTimeout ?? {};
  expect(Number(seconds) * 1000).toBeGreaterThan(2 * dayMs);
  expect(Number(seconds) * 1000).toBeLessThan(4 * dayMs);
}, 300_000);

test('a day without Slack: its answer is given up, the turn and the conversation are not', async () => {
  let isAway = true;
  chat.fault = ({ method }) => (isAway && method.startsWith('chat.') ? { kind: 'down' } : undefined);
  const threadTs = await write('one');
  const [turnId = ''] = await turnsOf(threadTs, 1);
  const tookMs = await msUntilGivenUp(turnId);
  expect(tookMs).toBeGreaterThanOrEqual(dayMs);
  expect(tookMs).toBeLessThan(dayMs + tenMinutesMs);
  expect(chat.texts('DU1', threadTs)).toEqual([]);
  isAway = false;
  // What is written next is answered, and nothing of the first one comes after all.
  await write('two', threadTs);
  const [, next = ''] = await turnsOf(threadTs, 2);
  expect(await deliveryOf(next).result()).toEqual({ status: 'delivered' });
  expect(chat.texts('DU1', threadTs)).toEqual(['You said: two']);
  // The conversation has both.
  const known = await service.storage.slack.threads.get({
    team: 'T1',
    channel: 'DU1',
    threadTs,
    slackUser: 'U1',
  });
  const said = known ? await service.storage.messages.list(known) : [];
  expect(said.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
}, 300_000);
