/** Callers who mean harm, or have a bug: many at once, the same message again and again, what belongs to others, what is too much. */
import { randomUUID } from 'node:crypto';
import type { Task } from '@a2a-js/sdk';
import { expect, test } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
import { asks, form } from '../../servers/scripted-mcp-server.ts';
import { turnWorkflowId } from '../../../src/workflows/messages.ts';
import { answerOf, connectAgent, readStream, stateOf, wordsOf, watch } from './a2a-client.ts';

const setup = useAskingService({
  env: { RATE_LIMIT_PER_MINUTE: '100000', OPEN_REQUESTS_PER_USER: '1000', LIVE_TURNS_PER_USER: '1000' },
});
const question = asks({ city: form('Which city?', { city: { type: 'string' } }) });

interface Reply {
  error?: { code: number };
}

async function rpc(method: string, params: unknown): Promise<{ status: number; body: Reply }> {
  const response = await fetch(new URL('/run/agents/assistant/a2a', setup.service.baseUrl), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await setup.service.token('alice')}`,
      'content-type': 'application/json',
      'a2a-version': '1.0',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return { status: response.status, body: (await response.json()) as Reply };
}
const message = (more: object) => ({
  message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }], ...more },
});

test(
  'two hundred at once each get their own answer, or are told to come again, and get it then',
  { timeout: 120_000 },
  async () => {
    const agent = await connectAgent(setup.service);
    const words = Array.from({ length: 200 }, (_, index) => `number ${index}`);
    // A busy service refuses, and may have begun all the same; the same message sent again is never a second task.
    const send = async (text: string, messageId: string): Promise<Task> =>
      agent.send(text, { messageId }).catch((error: unknown) => {
        if (!/Try again in a few seconds|still at work/.test(String(error))) throw error;
        return send(text, messageId);
      });
    const tasks = await Promise.all(words.map((text) => send(text, randomUUID())));
    expect(tasks.map(answerOf)).toEqual(words.map((text) => `You said: ${text}`));
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(200);
  },
);

test('one message, sent twenty times at once, is one task', async () => {
  const agent = await connectAgent(setup.service);
  const messageId = randomUUID();
  const tasks = await Promise.all(Array.from({ length: 20 }, () => agent.send('hello', { messageId })));
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(1);
});

test('one answer, sent twenty times at once, answers once', async () => {
  setup.server.play(question, asks({ day: form('Which day?', { day: { type: 'string' } }) }));
  const agent = await connectAgent(setup.service);
  const { id: taskId } = await agent.send('call asking__ask {}');
  const messageId = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => agent.send('Lisbon', { taskId, messageId })),
  );
  expect(new Set(answers.map(({ id }) => id))).toEqual(new Set([taskId]));
  expect(stateOf(await agent.get(taskId))).toBe('INPUT_REQUIRED');
  await agent.send('Monday', { taskId });
  expect(setup.server.calls).toHaveLength(3);
});

test('fifty watch one task, and all are told the same', async () => {
  setup.server.play(question);
  const agent = await connectAgent(setup.service);
  const { id } = await agent.send('call asking__ask {}');
  const watchers = await Promise.all(
    Array.from({ length: 50 }, () => watch(agent.client.resubscribeTask({ id, tenant: '' }))),
  );
  await agent.send('Lisbon', { taskId: id });
  for (const { states, answer } of await Promise.all(watchers.map(({ end }) => end)))
    expect([states.at(-1), answer]).toEqual(['COMPLETED', 'done']);
});

test('what belongs to somebody else is not there, whatever is tried with it', async () => {
  setup.server.play(question);
  const alice = await connectAgent(setup.service);
  const { id, contextId } = await alice.send('call asking__ask {}');
  const bob = await connectAgent(setup.service, { user: 'bob' });
  const task = { id, tenant: '' };
  const attempts = [
    bob.get(id),
    bob.send('Lisbon', { taskId: id }),
    bob.send('Lisbon', { taskId: id, contextId }),
    bob.client.cancelTask({ ...task, metadata: undefined }),
    readStream(bob.client.resubscribeTask(task)),
    bob.client.listTaskPushNotificationConfig({ taskId: id, tenant: '', pageSize: 0, pageToken: '' }),
  ];
  for (const attempt of await Promise.allSettled(attempts))
    expect(attempt).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringContaining('no task') },
    });
  const other = await connectAgent(setup.service, { agent: 'lead' });
  await expect(other.get(id)).rejects.toThrow(/no task/);
  expect(stateOf(await alice.get(id))).toBe('INPUT_REQUIRED');
  await alice.client.cancelTask({ ...task, metadata: undefined });
});

test('a page token of somebody else leads to one’s own tasks, and one that was changed to none', async () => {
  const [alice, bob] = await Promise.all([
    connectAgent(setup.service),
    connectAgent(setup.service, { user: 'bob' }),
  ]);
  await alice.send('one');
  await alice.send('two');
  const list = (agent: typeof alice, pageToken: string) =>
    agent.client.listTasks({
      tenant: '',
      contextId: '',
      status: 0,
      pageToken,
      pageSize: 1,
      statusTimestampAfter: undefined,
    });
  const { nextPageToken } = await list(alice, '');
  expect(nextPageToken).not.toBe('');
  const others = await list(bob, nextPageToken);
  const own = new Set((await list(alice, nextPageToken)).tasks.map(({ id }) => id));
  expect(others.tasks.filter(({ id }) => own.has(id))).toEqual([]);
  for (const forged of [nextPageToken.slice(2), btoa('{"changedAt":-1}')])
    await expect(list(alice, forged)).rejects.toThrow(/pageToken/);
});

test('a question of somebody else is not answered by its id', async () => {
  setup.server.play(question, question);
  const alice = await connectAgent(setup.service, { extension: true });
  const bob = await connectAgent(setup.service, { extension: true, user: 'bob' });
  const asked = await alice.send('call asking__ask {}');
  const own = await bob.send('call asking__ask {}');
  const uri = 'urn:interlude:a2a:elicitation:v1';
  const structured = asked.status?.message?.metadata?.[uri] as Record<string, unknown>;
  const { elicitationId } = structured;
  const forged = { elicitationId, action: 'accept', content: { city: 'Oslo' } };
  await expect(bob.send('', { taskId: own.id, metadata: { [uri]: forged } })).rejects.toThrow(/asks nothing/);
  expect(stateOf(await alice.get(asked.id))).toBe('INPUT_REQUIRED');
  for (const [agent, { id }] of [
    [alice, asked],
    [bob, own],
  ] as const)
    await agent.client.cancelTask({ id, tenant: '', metadata: undefined });
});

test('a workflow that is terminated from outside is a failed task, and who watches it is told', async () => {
  setup.server.play(question);
  const agent = await connectAgent(setup.service);
  const { id, contextId } = await agent.send('call asking__ask {}');
  const watching = await watch(agent.client.resubscribeTask({ id, tenant: '' }));
  const workflowId = turnWorkflowId({ tenant: 'demo', conversation: contextId, turnId: id });
  await setup.temporal.client.workflow.getHandle(workflowId).terminate('from outside');
  expect((await watching.end).states.at(-1)).toBe('FAILED');
  const task = await agent.get(id);
  expect([stateOf(task), wordsOf(task)]).toEqual(['FAILED', expect.stringContaining('ended from outside')]);
  expect(stateOf(await agent.send('hello', { contextId }))).toBe('COMPLETED');
});

test.each([
  ['a deep part', message({ parts: [{ data: nested(2_000) }] })],
  ['a thousand parts', message({ parts: Array.from({ length: 1_000 }, () => ({ text: 'x' })) })],
  ['half a megabyte of metadata', message({ metadata: { filler: 'x'.repeat(500_000) } })],
  ['names of prototypes', message({ metadata: JSON.parse('{"__proto__":{"a":1},"constructor":{"b":2}}') })],
  ['a part of two kinds', message({ parts: [{ text: 'hello', url: 'https://example.com/' }] })],
  ['numbers for names', message({ messageId: 7, contextId: 8, taskId: 9 })],
  ['an extension that is none', message({ metadata: { 'urn:interlude:a2a:elicitation:v1': 'accept' } })],
])('%s is taken or refused, and no fault of ours', async (_, params) => {
  const { status, body } = await rpc('SendMessage', params);
  expect(status).toBeLessThan(500);
  expect(body.error?.code).not.toBe(-32603);
});

test('more than the limit is refused before it is read', async () => {
  const { status, body } = await rpc('SendMessage', message({ metadata: { filler: 'x'.repeat(2_000_000) } }));
  expect(status).toBe(413);
  expect(body).toMatchObject({ jsonrpc: '2.0', error: {} });
});

function nested(depth: number): object {
  let value: object = {};
  for (let level = 0; level < depth; level++) value = { value };
  return value;
}
