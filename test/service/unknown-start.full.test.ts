/** Temporal's answer to the start of a turn is lost on its way: whether the turn has started is not known. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { turnWorkflowId } from '../../src/workflows/messages.ts';
import { startApi, tenant } from '../api/api-under-test.ts';
import type { ApiUnderTest } from '../api/api-under-test.ts';
import { startTcpProxy } from '../servers/tcp-proxy.ts';
import type { TcpProxy } from '../servers/tcp-proxy.ts';
import { useDevelopmentServer } from './use-development-server.ts';

const temporal = useDevelopmentServer();
const stack = new AsyncDisposableStack();
let api: ApiUnderTest;
let url: string;
/** Between the API and Temporal. */
let proxy: TcpProxy;

beforeAll(async () => {
  proxy = await startTcpProxy({ to: Number(temporal.address.split(':').at(-1)) });
  stack.defer(() => proxy.stop());
  api = await startApi({ temporal: `127.0.0.1:${proxy.port}` });
  stack.defer(() => api.stop());
  url = await api.app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => stack.disposeAsync());

async function post(path: string, payload: object) {
  const hangUp = new AbortController();
  const response = await fetch(`${url}/run/${path}`, {
    method: 'POST',
    headers: { ...api.headers('alice'), 'content-type': 'application/json' },
    body: JSON.stringify(payload),
    signal: hangUp.signal,
  });
  const { status, headers } = response;
  const detail = status === 200 ? null : ((await response.json()) as { detail: string }).detail;
  // No worker would ever end the stream.
  hangUp.abort();
  return { status, turnId: headers.get('x-turn-id'), retryAfter: headers.get('retry-after'), detail };
}

const named = new Set<string>();

function chat(conversation: string, id: string) {
  named.add(conversation);
  const messages = [{ id, role: 'user', parts: [{ type: 'text', text: 'hello' }] }];
  return post('api/chat', { id: conversation, messages });
}

interface Conversations {
  items: { id: string }[];
}

const turnOf = (conversation: string, messageId: string) =>
  api.storage.turns.byClientMessage({ tenant, conversation }, messageId);

const runOf = (conversation: string, turnId: string | null | undefined) =>
  temporal.client.workflow.getHandle(turnWorkflowId({ tenant, conversation, turnId: turnId ?? '' }));

/** Until Temporal answers through the proxy. */
async function reach(): Promise<void> {
  const lacks = async () => (await api.app.inject('/readyz')).json<{ warnings: object[] }>().warnings;
  await expect.poll(lacks).toMatchObject([{ name: 'workers' }]);
}

test('the caller reads that, and the same message joins the turn that has started', async () => {
  const conversation = randomUUID();
  await reach();
  proxy.stall();
  const first = await chat(conversation, 'm1');
  proxy.goOn();
  expect(first).toMatchObject({ status: 503, retryAfter: '5' });
  expect(first.detail).toContain('It is not known whether the turn has started.');
  const turn = await turnOf(conversation, 'm1');
  expect(turn).toMatchObject({ status: 'starting' });
  const run = runOf(conversation, turn?.turnId);
  const { runId } = await run.describe();

  await reach();
  expect(await chat(conversation, 'm1')).toMatchObject({ status: 200, turnId: turn?.turnId });
  expect((await run.describe()).runId).toBe(runId);
  await run.terminate();
});

test('a start that did not arrive keeps no other message waiting, and the same message starts its turn', async () => {
  const [conversation, other] = [randomUUID(), randomUUID()];
  await reach();
  proxy.refuse();
  proxy.cut();
  const lost = await Promise.all([chat(conversation, 'm1'), chat(other, 'm1')]);
  proxy.accept();
  expect(lost.map(({ status }) => status)).toEqual([503, 503]);
  const turn = await turnOf(conversation, 'm1');
  expect(turn).toMatchObject({ status: 'starting' });

  await reach();
  expect(await chat(conversation, 'm1')).toMatchObject({ status: 200, turnId: turn?.turnId });
  let next = await chat(other, 'm2');
  // Until no start of the first one can be under way.
  while (next.status === 409) {
    await delay(250);
    next = await chat(other, 'm2');
  }
  expect(next.status).toBe(200);
  expect(await turnOf(other, 'm1')).toBeNull();
  await runOf(conversation, turn?.turnId).terminate();
  await runOf(other, next.turnId).terminate();
});

test('a caller that cannot name its message again reads that the turn was not started, which stays true', async () => {
  await reach();
  proxy.stall();
  const response = await post('v1/chat/completions', {
    model: 'assistant',
    stream: true,
    messages: [{ role: 'user', content: 'hello' }],
  });
  proxy.goOn();
  expect(response.status).toBe(503);
  expect(response.detail).toContain('The turn was not started.');
  const { items } = (await api.send('alice', { url: '/run/v1/conversations' })).json<Conversations>();
  const names = items.map(({ id }) => id);
  expect(names.filter((name) => !named.has(name))).toEqual([]);
});
