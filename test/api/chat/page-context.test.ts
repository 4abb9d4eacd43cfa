/** What the page shows, from the request to the model and back to a reader: whole turns, and what the model was given. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createClient } from '@interlude-ai/client/client.ts';
import { createOpenAIServer } from '../../servers/openai-server.ts';
import type { OpenAIServer } from '../../servers/openai-server.ts';
import { useService } from '../../service/use-service.ts';

let model: OpenAIServer;

const { service, alice } = useService({ needs });
async function needs(stack: AsyncDisposableStack) {
  model = await createOpenAIServer({
    reply: ({ messages }) =>
      JSON.stringify(messages.at(-1)).includes('connect first')
        ? { kind: 'tool-calls', calls: [{ name: 'connect_tracker', arguments: '{}' }] }
        : { kind: 'text', chunks: ['Noted.'] },
  });
  stack.defer(() => model.stop());
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-context-'));
  stack.defer(() => rm(folder, { recursive: true }));
  const agents = `
providers: { openai-compatible: { baseURL: ${model.baseURL} } }
servers: { tracker: { title: Tracker, url: '\${TRACKER_URL}' } }
agents: { assistant: { model: 'openai-compatible:any', servers: [tracker] } }
`;
  await writeFile(path.join(folder, 'agents.yaml'), agents);
  return { env: { INTERLUDE_CONFIG: path.join(folder, 'agents.yaml') } };
}

const context = (text: string) => ({ type: 'data-page-context', data: { text } });
const say = (text: string, ...beside: object[]) => ({
  role: 'user',
  parts: [...beside, { type: 'text', text }],
});

function post(messages: object[], more: object = {}) {
  return alice.request('POST', '/run/api/chat', { messages, stream: false, ...more });
}

/** What the model was given last, the agent's own instructions aside. */
function given() {
  return model.requests.at(-1)?.body.messages.filter(({ role }) => role !== 'system') ?? [];
}

const quoted = (...lines: string[]) =>
  expect.stringMatching(
    new RegExp(`^What the page shows[^\n]*\n${lines.map((line) => `> ${line}`).join('\n')}$`),
  );
const texts = (...all: unknown[]) => all.map((text) => ({ type: 'text', text }));

test('the model is told after the words, and whoever reads again sees no words of the user in it', async () => {
  const id = randomUUID();
  const message = { id: 'm1', ...say('What does it cost?', context('Order 1043\nTotal: 86.00 EUR')) };
  expect(await post([message], { id })).toMatchObject({ status: 200 });
  expect(given()).toEqual([
    {
      role: 'user',
      content: texts('What does it cost?', quoted('Order 1043', 'Total: 86.00 EUR')),
    },
  ]);
  const read = await alice.request('GET', `/run/v1/conversations/${id}`);
  expect((read.body['messages'] as { items: unknown[] }).items[0]).toEqual({
    id: 'm1',
    role: 'user',
    parts: [{ type: 'text', text: 'What does it cost?' }, context('Order 1043\nTotal: 86.00 EUR')],
  });
  const feed = await fetch(`${service.baseUrl}/run/v1/conversations/${id}/events?after=0`, {
    headers: { authorization: `Bearer ${await service.token('alice')}` },
  });
  let heard = '';
  for await (const bytes of feed.body ?? []) {
    heard += new TextDecoder().decode(bytes);
    if (heard.includes('turn-ended')) break;
  }
  expect(heard).not.toContain('1043');
});

test('the next message is told without it, from whatever surface it comes', async () => {
  const id = randomUUID();
  await post([say('What is this?', context('Order 1043'))], { id });
  await post([say('And this?', context('Order 1044'))], { id });
  expect(JSON.stringify(given())).toContain('Order 1044');
  expect(JSON.stringify(given())).not.toContain('Order 1043');
  const reply = await alice.request('POST', '/run/v1/chat/completions', {
    model: 'assistant',
    conversationId: id,
    messages: [{ role: 'user', content: 'Thank you.' }],
  });
  expect(reply.status).toBe(200);
  expect(JSON.stringify(reply.body)).not.toContain('Order 104');
  expect(given().map(({ content }) => content)).toEqual([
    'What is this?',
    'Noted.',
    'And this?',
    'Noted.',
    'Thank you.',
  ]);
});

test('one that says nothing is none, and in earlier messages it means nothing, whatever it holds', async () => {
  const earlier = say('Earlier.', { type: 'data-page-context', data: 7 });
  expect(await post([earlier, say('Hello.', context(' \n'))])).toMatchObject({ status: 200 });
  expect(given().map(({ content }) => content)).toEqual(['Earlier.', 'Hello.']);
});

test('beside the answer to a question it is refused: an answer stands alone', async () => {
  const data = { elicitationId: 'e1', action: 'decline' };
  const parts = [{ type: 'data-elicitation-response', data }, context('Order 1043')];
  expect(await post([{ role: 'user', parts }], { id: randomUUID() })).toMatchObject({
    status: 400,
    body: { errors: [{ pointer: '/messages/0/parts/1' }] },
  });
});

test('the same message id with another context joins its turn, and what was told first stays', async () => {
  const id = randomUUID();
  const first = await post([{ id: 'm1', ...say('Hello.', context('Order 1043')) }], { id });
  const again = await post([{ id: 'm1', ...say('Hello.', context('Order 1044')) }], { id });
  expect(again.body['turnId']).toBe(first.body['turnId']);
  expect(JSON.stringify(given())).toContain('Order 1043');
});

test('a message that takes the place of a turn that waits is told with its own context', async () => {
  const id = randomUUID();
  const waiting = await alice.chat('connect first', { conversation: id });
  await waiting.question('pending');
  expect(await post([say('never mind', context('Order 1045'))], { id })).toMatchObject({ status: 200 });
  waiting.close();
  expect(given().at(-1)).toEqual({ role: 'user', content: texts('never mind', quoted('Order 1045')) });
});

test('the client sends it beside the words', async () => {
  const client = createClient({ baseUrl: service.baseUrl, token: await service.token('alice') });
  for await (const { status } of client.start({ message: { text: 'Hello.', context: 'Order 1046' } }))
    expect(['running', 'completed']).toContain(status);
  expect(given().at(-1)).toEqual({ role: 'user', content: texts('Hello.', quoted('Order 1046')) });
});
