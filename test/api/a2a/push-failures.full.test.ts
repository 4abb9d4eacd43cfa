/** Targets of push notifications that fail, and how many one caller may have. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
import { asks, form } from '../../servers/scripted-mcp-server.ts';
import { connectAgent, stateOf } from './a2a-client.ts';
import { isTold, pushTo, startPushTarget, storyOf } from './push-target.ts';
import type { PushTargetServer } from './push-target.ts';

const setup = useAskingService({ env: { A2A_PUSH_TARGETS: 'local', A2A_PUSH_DEADLINE: '8s' } });
const patient = useAskingService({ env: { A2A_PUSH_TARGETS: 'local' } });
let target: PushTargetServer;
beforeAll(async () => {
  target = await startPushTarget();
});
afterAll(() => target[Symbol.asyncDispose]());

const config = (more?: Parameters<typeof pushTo>[1]) => pushTo(target, more);

test('a target that fails for a while is told everything once it takes it', async () => {
  target.answer(503, { status: 429, headers: { 'retry-after': '0' } });
  const agent = await connectAgent(setup.service);
  const { id } = await agent.send('hello', { push: config() });
  await target.until(isTold('COMPLETED', id));
  const told = storyOf(target.received, id);
  expect(told[0]).toMatch(/^task/);
  expect(told.at(-1)).toMatch(/COMPLETED/);
});

test('a target that is slow to answer holds up no task, and is told all of it in order, once each', async () => {
  await using slow = await startPushTarget();
  const release = slow.hold();
  const agent = await connectAgent(patient.service);
  const { id } = await agent.send('hello', { push: config({ url: slow.url }) });
  expect(stateOf(await agent.get(id))).toBe('COMPLETED');
  await slow.until((received) => received.length > 0);
  // The second one waits for the first.
  expect(new Set(slow.received.map(({ text }) => text)).size).toBe(1);
  release();
  await slow.until(isTold('COMPLETED', id));
  const told = storyOf(slow.received, id);
  expect(told[0]).toMatch(/^task/);
  expect(told.at(-1)).toMatch(/COMPLETED/);
  expect(told).toEqual([...new Set(told)]);
});

test(
  'one that never answers is told the same again, and the rest when it does',
  { timeout: 120_000 },
  async () => {
    await using silent = await startPushTarget();
    const release = silent.hold();
    const agent = await connectAgent(patient.service);
    const { id } = await agent.send('hello', { push: config({ url: silent.url }) });
    // After ten seconds it is taken for lost.
    await expect.poll(() => silent.received.length).toBeGreaterThan(1);
    const [first, again] = silent.received;
    expect(again?.text).toBe(first?.text);
    release();
    await silent.until(isTold('COMPLETED', id));
  },
);

test('a redirect is not followed, and a target that fails for too long is given up', async () => {
  const other = await startPushTarget();
  const failing = await startPushTarget();
  failing.answer(...Array.from({ length: 20 }, () => ({ status: 307, headers: { location: other.url } })));
  const agent = await connectAgent(setup.service);
  const { id } = await agent.send('hello', { push: config({ url: failing.url }), returnImmediately: true });
  const configs = async () =>
    (
      await agent.client.listTaskPushNotificationConfig({
        taskId: id,
        tenant: '',
        pageSize: 0,
        pageToken: '',
      })
    ).configs;
  expect(await configs()).toHaveLength(1);
  await expect.poll(configs, { timeout: 60_000 }).toEqual([]);
  expect([...other.received, ...failing.received]).toEqual([]);
  await Promise.all([other[Symbol.asyncDispose](), failing[Symbol.asyncDispose]()]);
});

test('one caller has at most ten targets for a task', async () => {
  setup.server.play(asks({ city: form('Which city?', { city: { type: 'string' } }) }));
  const agent = await connectAgent(setup.service);
  const { id: taskId } = await agent.send('call asking__ask {}');
  const make = (id: string) => agent.client.createTaskPushNotificationConfig(config({ taskId, id }));
  for (let index = 0; index < 10; index++) await make(`c${index}`);
  await expect(make('c10')).rejects.toThrow(/10 for this task/);
  await make('c0');
  await agent.client.cancelTask({ id: taskId, tenant: '', metadata: undefined });
});
