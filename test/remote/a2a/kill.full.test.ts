/**
 * kill -9 of both services of a chain while a task works, asks for a form, and waits for a page: the same task goes on, and
 * no message is sent twice.
 */
import { fileURLToPath } from 'node:url';
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createDeployment, showOutput, someKeys } from '../../e2e/deployment.ts';
import type { Deployment } from '../../e2e/deployment.ts';
import type { ServiceProcess } from '../../e2e/processes.ts';
import { startScriptedAgent } from '../../servers/scripted-agent.ts';
import type { ScriptedAgent } from '../../servers/scripted-agent.ts';
import { asks, form, page, startScriptedMcpServer } from '../../servers/scripted-mcp-server.ts';
import type { ScriptedMcpServer } from '../../servers/scripted-mcp-server.ts';

const stack = new AsyncDisposableStack();
const config = fileURLToPath(new URL('../../fixtures/remote-kill-agents.yaml', import.meta.url));
let server: ScriptedMcpServer;
let agent: ScriptedAgent;
let far: Deployment;
let near: Deployment;
let running: ServiceProcess[];

beforeAll(async () => {
  server = await startScriptedMcpServer();
  stack.defer(() => server.stop());
  agent = await startScriptedAgent();
  stack.defer(() => agent.stop());
  const env = {
    INTERLUDE_CONFIG: config,
    ASKING_URL: server.url,
    AGENT_CARD: agent.card,
    INTERLUDE_KEYS: someKeys,
  };
  far = await createDeployment({ env });
  stack.defer(() => far.stop());
  near = await createDeployment({
    env: {
      ...env,
      NEXT_CARD: `${far.baseUrl}/run/agents/assistant/a2a/.well-known/agent-card.json`,
      NEXT_AUTHORIZATION: `Bearer ${await far.token('alice')}`,
    },
  });
  stack.defer(() => near.stop());
  running = await Promise.all([near.start('start'), far.start('start')]);
});
afterAll(() => stack.disposeAsync());
afterEach(showOutput(() => near));

async function killAndStart(which: Deployment[]): Promise<void> {
  const all = [near, far];
  await Promise.all(which.map(async (one) => running[all.indexOf(one)]?.kill('SIGKILL')));
  await Promise.all(
    which.map(async (one) => {
      running[all.indexOf(one)] = await one.start('start');
    }),
  );
}

/** What a conversation's feed has come to. */
async function state(deployment: Deployment, conversation: string) {
  const caller = await deployment.caller('alice');
  const { body } = await caller.request('GET', `/run/v1/conversations/${conversation}`);
  const found = await caller.request(
    'GET',
    `/run/v1/conversations/${conversation}/elicitations?status=pending`,
  );
  return { text: JSON.stringify(body), open: (found.body['items'] ?? []) as { elicitationId: string }[] };
}

async function begin(text: string): Promise<string> {
  const conversation = randomUUID();
  const caller = await near.caller('alice');
  void caller.chat(text, { conversation }).catch(() => undefined);
  return conversation;
}

/** Begins a task that waits; resolves once it is kept here which one it is, so that it is only followed from then on. */
async function atWork(): Promise<string> {
  const conversation = randomUUID();
  await (await near.caller('alice')).chat('ask the playing to wait', { conversation });
  // What it says of its work comes after that.
  const feed = await fetch(`${near.baseUrl}/run/v1/conversations/${conversation}/events`, {
    headers: { authorization: `Bearer ${await near.token('alice')}` },
  });
  let heard = '';
  for await (const text of feed.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    heard += text;
    if (heard.includes('Looking it up')) break;
  }
  expect(heard).toContain('Looking it up');
  return conversation;
}

/** A call whose worker died is made again once its heartbeats are missed; two services that start beside others take longer than that. */
const soon = { timeout: 60_000, interval: 200 };
const opened = async (conversation: string) => {
  await expect.poll(async () => (await state(near, conversation)).open.length, soon).toBe(1);
  return (await state(near, conversation)).open[0]?.elicitationId ?? '';
};
const ended = (conversation: string, words: string) =>
  expect.poll(async () => (await state(near, conversation)).text, soon).toContain(words);

test('while it works, here: it is followed again, and not sent again', { timeout: 180_000 }, async () => {
  const conversation = await atWork();
  await killAndStart([near]);
  agent.finish();
  await ended(conversation, 'I was told: Waited.');
  expect(agent.messages).toHaveLength(1);
});

test(
  'while it works, here, and its turn is cancelled before it is followed again',
  { timeout: 180_000 },
  async () => {
    const before = agent.tasks.length;
    const conversation = await atWork();
    await killAndStart([near]);
    await (await near.caller('alice')).cancel(conversation);
    await expect.poll(() => agent.cancelled, soon).toContain(agent.tasks[before]);
    expect(agent.messages).toHaveLength(before + 1);
  },
);

test('while it asks for a form, on both sides', { timeout: 180_000 }, async () => {
  server.play(asks({ city: form('Which city?', { city: { type: 'string' } }) }));
  const conversation = await begin('ask the next to call asking__ask {}');
  const before = await opened(conversation);
  await killAndStart([near, far]);
  expect(await opened(conversation)).toBe(before);
  const caller = await near.caller('alice');
  const content = { city: 'Lisbon' };
  await caller.answer({ conversationId: conversation, elicitationId: before, action: 'accept', content });
  await ended(conversation, 'I was told: done');
  expect(server.calls[1]?.params.inputResponses).toEqual({ city: { action: 'accept', content } });
  expect(server.calls).toHaveLength(2);
});

test('while a page is waited for, on both sides', { timeout: 180_000 }, async () => {
  server.play(asks({ there: page('https://example.com/a') }));
  const conversation = await begin('ask the next to call asking__ask {}');
  await opened(conversation);
  await killAndStart([near, far]);
  const caller = await far.caller('alice');
  const { body } = await caller.request('GET', '/run/v1/conversations');
  const [latest] = body['items'] as { id: string }[];
  const [question] = (await state(far, latest?.id ?? '')).open;
  await caller.answer({
    conversationId: latest?.id ?? '',
    elicitationId: question?.elicitationId ?? '',
    action: 'accept',
  });
  await ended(conversation, 'I was told: done');
  expect(server.calls).toHaveLength(2);
});
