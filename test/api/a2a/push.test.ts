/** Push notifications: recipients, content, order, signatures, and targets that fail. */
import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import { AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { createLocalJWKSet, jwtVerify } from 'jose';
import type { JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
import { asks, done, form } from '../../servers/scripted-mcp-server.ts';
import { answer } from '../../servers/raw-mcp-server.ts';
import { sendRubbish } from '../../workflows/rubbish.ts';
import { connectAgent } from './a2a-client.ts';
import { isTold, pushTo, startPushTarget, storyOf } from './push-target.ts';
import type { PushTargetServer } from './push-target.ts';

const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
const setup = useAskingService({
  // Four notifications at a time, and one of each caller.
  env: { A2A_PUSH_TARGETS: 'local', A2A_SIGNING_KEY: JSON.stringify(key), WORKER_CALLS: '16' },
});
let target: PushTargetServer;
beforeAll(async () => {
  target = await startPushTarget();
});
afterAll(() => target[Symbol.asyncDispose]());

const named = { city: { type: 'string' } };
const config = (more?: Parameters<typeof pushTo>[1]) => pushTo(target, more);

test('a target is told how its task stands, of the question, and of its end, in this order', async () => {
  setup.server.play(asks({ city: form('Which city?', named) }));
  const agent = await connectAgent(setup.service);
  const asked = await agent.send('call asking__ask {}', {
    push: config({ token: 'mine', authentication: { scheme: 'Bearer', credentials: 'secret' } }),
  });
  await target.until(isTold('INPUT_REQUIRED', asked.id));
  const { storage } = setup.service;
  const [deliveryId = ''] = await storage.pushConfigs.deliveriesOf({ tenant: 'demo', turnId: asked.id });
  await agent.send('Lisbon', { taskId: asked.id });
  const received = await target.until(isTold('COMPLETED', asked.id));
  const story = storyOf(received, asked.id);
  expect(story[0]).toMatch(/^task /);
  expect(story.filter((told) => !told.startsWith('task '))).toEqual(
    expect.arrayContaining(['WORKING', 'text done', 'COMPLETED']),
  );
  expect(story.slice(-2)).toEqual(['text done', 'COMPLETED']);
  const [first] = received.filter(({ body }) => body['task']?.id === asked.id);
  expect(first?.headers).toMatchObject({
    authorization: 'Bearer secret',
    'x-a2a-notification-token': 'mine',
    'content-type': 'application/a2a+json',
  });
  const ids = received.map(({ headers }) => headers['x-a2a-notification-id']);
  expect(new Set(ids).size).toBe(ids.length);

  const delivery = setup.temporal.client.workflow.getHandle(`push/${deliveryId}`);
  expect(await delivery.result()).toEqual({ status: 'delivered' });
  const history = JSON.stringify(await delivery.fetchHistory(), (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : value,
  );
  expect(history).toContain(deliveryId);
  for (const said of ['Which city', 'Lisbon', 'secret', 'mine', 'asking__ask', target.url])
    expect(history).not.toContain(said);
});

test('a delivery that was ended from outside begins again when its config is sent again', async () => {
  setup.server.play(asks({ city: form('Which city?', named) }));
  const agent = await connectAgent(setup.service);
  const asked = await agent.send('call asking__ask {}', { push: config() });
  await target.until(isTold('INPUT_REQUIRED', asked.id));
  const of = { tenant: 'demo', turnId: asked.id };
  const [deliveryId = ''] = await setup.service.storage.pushConfigs.deliveriesOf(of);
  const delivery = setup.temporal.client.workflow.getHandle(`push/${deliveryId}`);
  // Whatever it is sent leaves it alone.
  await sendRubbish(delivery, { elicitationId: 'none', toolCallId: 'none' });
  expect((await delivery.describe()).status.name).toBe('RUNNING');
  await delivery.terminate('by an operator');
  await agent.client.createTaskPushNotificationConfig(config({ taskId: asked.id, id: asked.id }));
  expect(await setup.service.storage.pushConfigs.deliveriesOf(of)).toEqual([deliveryId]);
  await agent.send('Lisbon', { taskId: asked.id });
  await target.until(isTold('COMPLETED', asked.id));
});

test('a notification is signed with the key that the service publishes, for this target and body', async () => {
  const agent = await connectAgent(setup.service);
  const { id } = await agent.send('hello', { push: config() });
  const received = await target.until(isTold('COMPLETED', id));
  const jwks = (await (
    await fetch(new URL('/.well-known/jwks.json', setup.service.baseUrl))
  ).json()) as JSONWebKeySet;
  expect(JSON.stringify(jwks)).not.toContain('"d"');
  const told = received.find(({ body }) => (body['task'] ?? body['statusUpdate'])?.id === id)!;
  const token = told.headers.authorization?.replace('Bearer ', '') ?? '';
  const { payload } = await jwtVerify(token, createLocalJWKSet(jwks), {
    audience: new URL(target.url).origin,
  });
  expect(payload).toMatchObject({
    taskId: id,
    request_body_sha256: createHash('sha256').update(told.text).digest('hex'),
  });
  expect(told.headers['x-a2a-notification-signature']).toBe(token);
});

test('a card is signed, in every form it is given in, and one that was changed is not taken', async () => {
  const get = async (path: string, headers = {}) =>
    (await fetch(new URL(path, setup.service.baseUrl), { headers })).json();
  const keys = createLocalJWKSet((await get('/.well-known/jwks.json')) as JSONWebKeySet);
  const verify = verifyAgentCardSignature(async (kid) => (await keys({ alg: 'ES256', kid })) as CryptoKey);
  for (const headers of [{ 'a2a-version': '1.0' }, {}]) {
    const given = (await get('/.well-known/agent-card.json', headers)) as object;
    await verify(AgentCard.fromJSON(given));
    await expect(verify(AgentCard.fromJSON({ ...given, name: 'Somebody' }))).rejects.toThrow(/No valid/);
  }
});

describe.each(['JSONRPC', 'HTTP+JSON'] as const)('over %s', (transport) => {
  const of = (taskId: string, id: string) => ({ tenant: '', taskId, id });

  test('configs are kept for who made them, and never give a secret back', async () => {
    const agent = await connectAgent(setup.service, { transport });
    setup.server.play(asks({ city: form('Which city?', named) }));
    const { id: taskId } = await agent.send('call asking__ask {}');
    const wanted = config({
      taskId,
      id: 'one',
      token: 'mine',
      authentication: { scheme: 'Basic', credentials: 'c2VjcmV0' },
    });
    const made = await agent.client.createTaskPushNotificationConfig(wanted);
    const shown = { ...wanted, token: '', authentication: { scheme: 'Basic', credentials: '' } };
    expect(made).toEqual(shown);
    expect(await agent.client.getTaskPushNotificationConfig(of(taskId, 'one'))).toEqual(shown);
    await agent.client.createTaskPushNotificationConfig(config({ taskId }));
    const list = { taskId, tenant: '', pageSize: 0, pageToken: '' };
    const { configs } = await agent.client.listTaskPushNotificationConfig(list);
    expect(configs.map(({ id }) => id).toSorted()).toEqual([taskId, 'one'].toSorted());
    const bob = await connectAgent(setup.service, { transport, user: 'bob' });
    await expect(bob.client.getTaskPushNotificationConfig(of(taskId, 'one'))).rejects.toThrow(/no task/);
    await expect(bob.client.createTaskPushNotificationConfig(wanted)).rejects.toThrow(/no task/);
    await expect(bob.client.listTaskPushNotificationConfig(list)).rejects.toThrow(/no task/);
    await agent.client.deleteTaskPushNotificationConfig(of(taskId, 'one'));
    await agent.client.deleteTaskPushNotificationConfig(of(taskId, 'one'));
    await expect(agent.client.getTaskPushNotificationConfig(of(taskId, 'one'))).rejects.toThrow(/no push/);
    await agent.client.cancelTask({ id: taskId, tenant: '', metadata: undefined });
    await target.until(isTold('CANCELED', taskId));
  });
});

test.each([
  ['no address', 'nowhere'],
  ['a password', 'https://user:secret@example.com/'],
  ['a file', 'file:///etc/passwd'],
  ['the metadata of a machine', 'http://169.254.169.254/latest'],
  ['an address that is too long', `https://example.com/${'a'.repeat(3_000)}`],
])('%s is not called, and no task begins', async (_, url) => {
  const agent = await connectAgent(setup.service);
  const messageId = randomUUID();
  await expect(agent.send('hello', { messageId, push: config({ url }) })).rejects.toThrow(/not called/);
});

test('what would split a header is refused', async () => {
  const agent = await connectAgent(setup.service);
  const evil = 'a\r\nx-evil: 1';
  await expect(agent.send('hello', { push: config({ token: evil }) })).rejects.toThrow(/ASCII/);
  const authentication = { scheme: 'Bearer', credentials: evil };
  await expect(agent.send('hello', { push: config({ authentication }) })).rejects.toThrow(/ASCII/);
});

test('while a turn works no slot is held for its notifications, and its target hears of the end', async () => {
  const released = Promise.withResolvers<object>();
  setup.server.play((message, response) => {
    void released.promise.then((result) => answer(message, response, result));
  });
  const agent = await connectAgent(setup.service);
  const { id } = await agent.send('call asking__ask {}', { push: config(), returnImmediately: true });
  await target.until(isTold('WORKING', id));
  const [deliveryId] = await setup.service.storage.pushConfigs.deliveriesOf({ tenant: 'demo', turnId: id });
  const delivery = setup.temporal.client.workflow.getHandle(`push/${deliveryId}`);
  const underWay = async () => (await delivery.describe()).raw.pendingActivities?.length ?? 0;
  await expect.poll(underWay).toBe(0);
  released.resolve(done('late'));
  await target.until(isTold('COMPLETED', id));
});

test('targets that hang take no more than the share of the caller who named them, also at a host that others use', async () => {
  await using host = await startPushTarget();
  const path = '/hook/hangs';
  host.hold(path);
  const alice = await connectAgent(setup.service);
  const ids: string[] = [];
  for (let n = 0; n < 6; n += 1)
    ids.push((await alice.send('hello', { push: config({ url: new URL(path, host.url).href }) })).id);
  await host.until((received) => received.length > 0);
  const bob = await connectAgent(setup.service, { user: 'bob' });
  for (const quick of [target, host]) {
    const { id } = await bob.send('hello', { push: config({ url: quick.url }) });
    await quick.until(isTold('COMPLETED', id));
  }
  expect(host.received.filter((one) => one.path === path)).toHaveLength(1);
  for (const taskId of ids)
    await alice.client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: taskId });
});
